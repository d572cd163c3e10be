"""Renders blocks of a document as lines of a terminal."""

from collections.abc import Iterable, Iterator

from plimsoll.model.document import (
    Block,
    Bullets,
    Facts,
    Figures,
    Inline,
    Link,
    Paragraph,
    Section,
    Statement,
    Table,
    Text,
    plain_text,
)
from plimsoll.model.parameters import Parameter
from plimsoll.model.styled import Line, Part, cells
from plimsoll.rules.severity import COLOURS, MARKS

_MOST_SENTENCES = 5
_MOST_ROWS = 24  # of a table
_STYLES = {"strong": "bold", "quiet": "dim", "small": "dim"}


def render_lines(blocks: Iterable[Block]) -> Iterator[Line]:
    """Render blocks line by line. What only a page can show, such as charts and folded sections, is left out."""
    for block in blocks:
        match block:
            case Section():
                yield from _section(block)
            case Statement():
                yield from _statement(block)
            case Paragraph():
                dim = block.role in ("summary", "note")
                yield ((f"  {plain_text(block.text)}", "dim"),) if dim else ("  ", *_parts(block.text))
            case Bullets():
                yield from (("  - ", *_parts(item)) for item in block.items)
            case Facts():
                yield from ((f"  {name}: ", *_parts(text)) for name, text in block.rows)
            case Figures():
                yield from ((f"  {value}, limit {limit}: {text}",) for value, limit, text in block.rows)
            case Table():
                yield from _table(block)
            case _:
                pass


def answer_lines(blocks: Iterable[Block]) -> Iterator[Line]:
    """Render what is said in blocks without what explains it."""
    for block in blocks:
        if isinstance(block, Statement):
            yield (f"  {block.sentences[0]}",)
        elif isinstance(block, Section):
            yield from answer_lines(block.blocks[: block.brief or None])
        elif isinstance(block, Paragraph | Table):
            yield from render_lines([block])


def _statement(statement: Statement) -> Iterator[Line]:
    """Render the answer, and what explains it below."""
    first, *more = statement.sentences[:_MOST_SENTENCES]
    yield (f"  {first}",)
    indent = "  " if statement.flush else "      "
    yield from (((f"{indent}{text}", "dim"),) for text in more)


def _section(section: Section) -> Iterator[Line]:
    """A heading of level 2 after an empty line, the blocks, and how many more there are."""
    if section.fold:
        return
    if section.level == 2 and section.title:
        yield ()
        yield ((plain_text(section.title), "bold"),)
    yield from render_lines(section.blocks[: section.brief or None])
    if section.level == 2 and (more := _hidden(section)):
        what = next((one.what for one in _sections(section) if one.what), "")
        text = f"  {f'{more:,} more {what}'.strip()}; {Parameter.OUT} writes a report with all of them"
        yield ((text, "dim"),)


def _hidden(section: Section) -> int:
    """How many statements and rows of a section a terminal leaves out."""
    brief = section.blocks[: section.brief or None]
    tables = sum(max(0, len(one.rows) - _MOST_ROWS) + one.hidden for one in brief if isinstance(one, Table))
    inner = sum(_hidden(one) for one in brief if isinstance(one, Section) and not one.fold)
    return section.hidden + len(section.blocks) - len(brief) + tables + inner


def _sections(section: Section) -> Iterator[Section]:
    yield section
    for block in section.blocks:
        if isinstance(block, Section):
            yield from _sections(block)


def _table(table: Table) -> Iterator[Line]:
    rows = [tuple(map(plain_text, row)) for row in table.rows]
    heads = tuple(column.title for column in table.columns)
    widths = [max(cells(row[at]) for row in (heads, *rows)) for at in range(len(heads))]

    def line(row: tuple[str, ...]) -> str:
        padded = [
            f"{' ' * (width - cells(cell))}{cell}" if column.numeric else f"{cell}{' ' * (width - cells(cell))}"
            for cell, width, column in zip(row, widths, table.columns, strict=True)
        ]
        return f"  {'  '.join(padded)}".rstrip()

    yield ((line(heads), "dim"),)
    yield from ((line(row),) for row in rows[:_MOST_ROWS])


def _parts(text: Text) -> Line:
    return tuple(map(_part, (text,) if isinstance(text, str) else text))


def _part(part: Inline) -> Part:
    if isinstance(part, str):
        return part
    if isinstance(part, Link):
        return part.text
    text, role = part
    if role in MARKS:
        return f"{MARKS[role]} {text}".rstrip(), COLOURS[role]
    return (text, _STYLES[role]) if role in _STYLES else text
