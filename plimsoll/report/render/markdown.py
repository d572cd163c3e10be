"""Renders a document as Markdown, for example for a pull request. Texts from logs are escaped."""

import re
from collections.abc import Iterable, Iterator

from plimsoll.model.document import (
    Block,
    Bullets,
    Document,
    DocumentTable,
    FactList,
    FigureList,
    Paragraph,
    Section,
    Statement,
    Text,
    VerdictBlock,
    join_plain_text,
)

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>|#])")


def render_markdown(document: Document) -> str:
    """Render a document as Markdown; charts, curves and folded sections are left out."""
    return "\n".join(_list_lines(document.blocks)) + "\n"


def escape(text: Text) -> str:
    """Return a text as one line, escaped so that Markdown shows it unchanged."""
    return _SPECIAL.sub(r"\\\1", " ".join(join_plain_text(text).split()))


def _list_lines(blocks: Iterable[Block | VerdictBlock]) -> Iterator[str]:
    """Yield the lines of Markdown for each block."""
    for block in blocks:
        match block:
            case VerdictBlock():
                yield f"## {escape(f'{block.word} {block.sentence}')}"
                yield ""
                yield from (f"- {escape(text)}" for text in block.paragraphs)
                yield ""
            case Section() if not block.fold:
                if block.title:
                    yield f"{'#' * (block.level + 1)} {escape(block.title)}"
                    yield ""
                yield from _list_lines(block.blocks)
            case Statement():
                yield f"- {escape(' '.join(block.sentences))}"
            case Paragraph():
                yield escape(block.text)
                yield ""
            case Bullets():
                yield from (f"- {escape(item)}" for item in block.items)
                yield ""
            case FactList():
                yield from (f"- {escape(name)}: {escape(text)}" for name, text in block.rows)
                yield ""
            case FigureList():
                yield from (
                    f"- {escape(text)}: {escape(value)}, limit {escape(limit)}" for value, limit, text in block.rows
                )
                yield ""
            case DocumentTable():
                yield f"| {' | '.join(escape(column.title) for column in block.columns)} |"
                yield f"|{'|'.join('---:' if column.numeric else '---' for column in block.columns)}|"
                yield from (f"| {' | '.join(map(escape, row))} |" for row in block.rows)
                if block.hidden:
                    yield f"\n{block.hidden:,} more."
                yield ""
            case _:
                pass
