"""A comparison as terminal text and as Markdown."""

from collections.abc import Iterator, Sequence

from plimsoll.comparison.compare import Comparison
from plimsoll.model.document import Document
from plimsoll.model.parameters import Parameter
from plimsoll.model.styled import Line
from plimsoll.model.times import Zone
from plimsoll.report.comparison.document import blocks, markdown_blocks, name_of, runs_section, summary
from plimsoll.report.render.markdown import render_markdown
from plimsoll.report.render.terminal import render_lines

_MOST_IN_FULL = 2
_MANY = f"Two runs at a time are shown in full; {Parameter.OUT} writes a report with all of them."
_REST = f"{Parameter.DETAILS} prints the rest; {Parameter.OUT} writes a report with all of it."


def lines(
    comparisons: Sequence[Comparison], zone: Zone | None = None, width: int | None = None, *, all_of_it: bool = True
) -> Iterator[Line]:
    """Return the comparisons line by line, of many their answers; without `all_of_it` they fit a screen.

    Times are in `zone`, by default those of the logs. Tables fit the `width`; without one, the lines are for no
    terminal.
    """
    if len(comparisons) > (_MOST_IN_FULL if all_of_it else 1):
        yield from render_lines(summary(comparisons), width)
    else:
        for at, comparison in enumerate(comparisons):
            if at:
                yield ()
            yield from render_lines(blocks(comparison, zone, brief=not all_of_it), width)
    if not all_of_it:
        yield ()
        yield ((_REST, "dim"),)
        return
    if len(comparisons) > _MOST_IN_FULL:
        yield ((f"  {_MANY}", "dim"),)
    yield from render_lines([runs_section(comparisons)], width)


def markdown(comparisons: Sequence[Comparison]) -> str:
    """Return the summary of each comparison with one baseline, as for a pull request."""
    name = name_of(comparisons)
    return render_markdown(Document("comparison", name, name, tuple(markdown_blocks(comparisons))))
