"""A comparison as one self-contained HTML file: the answer first, then charts that overlay both runs."""

from collections.abc import Sequence

from plimsoll.comparison.compare import Comparison
from plimsoll.comparison.summary import ANSWERS, answer
from plimsoll.model.document import Block, Document, Section, VerdictBlock
from plimsoll.model.times import Zone
from plimsoll.report.comparison.charts import Overlaid
from plimsoll.report.comparison.document import build_blocks, build_runs_section, name_of
from plimsoll.report.comparison.tables import build_signals_section
from plimsoll.report.render.html import render_page


def render(comparisons: Sequence[Comparison], zone: Zone | None = None, now: int | None = None) -> str:
    """Return the page as HTML. Times are in `zone`, by default the logs'; `now` (UTC ns) is its time of creation."""
    charts = Overlaid(comparisons)
    parts: list[Block | VerdictBlock] = []
    for comparison in comparisons:
        if len(comparisons) > 1:
            parts.append(Section(comparison.second.name, ()))
        parts += build_blocks(comparison, zone, charts)
    name = name_of(comparisons)
    document = Document(
        "comparison",
        f"{ANSWERS[answer(comparisons[0])]} {name}",
        name,
        (*parts, build_runs_section(comparisons), build_signals_section(comparisons)),
        simulated=any(
            side.review.run.simulated for comparison in comparisons for side in (comparison.first, comparison.second)
        ),
    )
    return render_page(document, charts.charts, zone="time since the start", elapsed=True, now=now)
