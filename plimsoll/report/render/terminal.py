"""Renders blocks of a document as lines of a terminal."""

from collections.abc import Iterable, Iterator

from plimsoll.model.document import (
    Block,
    Bullets,
    Column,
    DocumentTable,
    FactList,
    FigureList,
    Inline,
    Link,
    Paragraph,
    Section,
    Statement,
    Text,
    VerdictBlock,
    join_plain_text,
)
from plimsoll.model.parameters import Parameter
from plimsoll.model.styled import Line, Part, count_cells
from plimsoll.rules.wording import COLOURS, MARKS

_MOST_SENTENCES = 5
_VERDICTS = {"critical": "bold red", "warning": "bold yellow", "unknown": "bold yellow"}
_STYLES = {"strong": "bold", "quiet": "dim", "small": "dim"}


def render_lines(blocks: Iterable[Block | VerdictBlock], width: int | None = None) -> Iterator[Line]:
    """Render blocks line by line, without charts, folded sections and blocks that only a page can show.

    Tables fit the `width`; without `width`, the output does not go to a terminal.
    """
    for block in blocks:
        match block:
            case VerdictBlock():
                yield (block.word, _VERDICTS.get(block.kind, "bold")), f" {block.sentence}".rstrip()
                yield from (_style_text(text) for text in block.paragraphs)
            case Section():
                yield from _format_section(block, width)
            case Statement():
                first, *items = block.sentences[:_MOST_SENTENCES]
                yield (f"  {first}",)
                indent = "  " if block.flush else "      "
                yield from (((f"{indent}{text}", "dim"),) for text in items)
            case Paragraph():
                dim = block.role in ("summary", "note")
                yield ((f"  {join_plain_text(block.text)}", "dim"),) if dim else ("  ", *_style_text(block.text))
            case Bullets():
                yield from (("  - ", *_style_text(item)) for item in block.items)
            case FactList():
                yield from ((f"  {name}: ", *_style_text(text)) for name, text in block.rows)
            case FigureList():
                yield from ((f"  {value}, limit {limit}: {text}",) for value, limit, text in block.rows)
            case DocumentTable():
                yield from _format_table(block, width)
            case _:
                pass


def answer_lines(blocks: Iterable[Block]) -> Iterator[Line]:
    """Render blocks in brief: only the first sentence of each statement."""
    for block in blocks:
        if isinstance(block, Statement):
            yield (f"  {block.sentences[0]}",)
        elif isinstance(block, Section):
            yield from answer_lines(block.blocks[: block.brief or None])
        elif isinstance(block, Paragraph | DocumentTable):
            yield from render_lines([block])


def _format_section(section: Section, width: int | None) -> Iterator[Line]:
    """Yield a section: an empty line and a heading if its level is 2, the blocks, and how many entries are left out."""
    if section.fold:
        return
    if section.level == 2 and section.title:
        yield ()
        yield ((join_plain_text(section.title), "bold"),)
    yield from render_lines(section.blocks[: section.brief or None], width)
    if section.level == 2 and (hidden := _count_hidden(section)):
        name = next((section.noun for section in _list_sections(section) if section.noun), "")
        text = f"  {f'{hidden:,} more {name}'.strip()}; {Parameter.OUT} writes a report with all of them"
        yield ((text, "dim"),)


def _count_hidden(section: Section) -> int:
    """Return how many statements and rows of a section are left out on a terminal."""
    brief = section.blocks[: section.brief or None]
    tables = sum(
        max(0, len(block.rows) - block.brief) + block.hidden for block in brief if isinstance(block, DocumentTable)
    )
    inner = sum(_count_hidden(block) for block in brief if isinstance(block, Section) and not block.fold)
    return section.hidden + len(section.blocks) - len(brief) + tables + inner


def _list_sections(section: Section) -> Iterator[Section]:
    yield section
    for block in section.blocks:
        if isinstance(block, Section):
            yield from _list_sections(block)


def _format_table(table: DocumentTable, width: int | None) -> Iterator[Line]:
    """Yield the lines of a table; if the table is too wide, optional columns are left out first.

    Remaining columns that do not fit follow below, beside the first column again.
    """
    rows = [tuple(column.title for column in table.columns), *(tuple(map(join_plain_text, row)) for row in table.rows)]
    widths = [2 + max(count_cells(row[at]) for row in rows) for at in range(len(table.columns))]
    shown = [*range(len(table.columns))]
    for at in sorted((at for at in shown if table.columns[at].optional), key=lambda at: table.columns[at].optional):
        if width is not None and sum(widths[other] for other in shown) > width:
            shown.remove(at)
    while shown:
        kept = [
            at
            for count, at in enumerate(shown)
            if count < 2 or sum(widths[of] for of in shown[: count + 1]) <= (width or 10**9)
        ]
        head, *texts = (
            "".join(_format_cell(row[at], widths[at], table.columns[at]) for at in kept).rstrip() for row in rows
        )
        yield ((head, "dim"),)
        yield from ((text,) for text in texts[: table.brief])
        rest = [at for at in shown if at not in kept]
        shown = [shown[0], *rest] if rest else []
        if shown:
            yield ()


def _format_cell(text: str, width: int, column: Column) -> str:
    space = " " * (width - 2 - count_cells(text))
    return f"  {space}{text}" if column.numeric else f"  {text}{space}"


def _style_text(text: Text) -> Line:
    return tuple(map(_style_part, (text,) if isinstance(text, str) else text))


def _style_part(part: Inline) -> Part:
    if isinstance(part, str):
        return part
    if isinstance(part, Link):
        return part.text
    text, role = part
    if role in MARKS:
        return f"{MARKS[role]} {text}".rstrip(), COLOURS[role]
    return (text, _STYLES[role]) if role in _STYLES else text
