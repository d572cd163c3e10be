"""What limits a run, reasoned from its figures: a resource, a queue inside the software, or a load too small to tell.

The method is that of "Microsoft Windows NT Server File Server Scalability" (System Bottlenecks): what is near its
capacity while the work no longer follows the load limits it; what has room is ruled out; what was not recorded is not.
Where the counters do not tell, the answer is that it cannot be told, and what would have to be recorded.
"""

from dataclasses import dataclass

from plimsoll.insights.limits import words
from plimsoll.insights.limits.case import case_of
from plimsoll.insights.limits.conclusion import Kind, conclude
from plimsoll.insights.limits.figure import Figure
from plimsoll.insights.limits.inside_software import Waiting
from plimsoll.insights.limits.load_response import LoadResponse
from plimsoll.insights.limits.reasons import Sentence, reasons
from plimsoll.insights.limits.resource_use import Standing
from plimsoll.review.review import Review


@dataclass(frozen=True)
class Limit:
    """What limits a run.

    Attributes:
        kind: The resource; `queue` inside the software; `load`: it was too small to reach a limit; or `unknown`.
        confident: Whether the figures leave no other explanation that was looked for.
        sentences: The reasons, the conclusion first.
        standings: Every resource of every host.
        limiting: The resource that limits; None for queue, load and unknown.
        waiting: What waited inside the software.
        load: The load, and how the work responded.
        spans: The times of the highest load (UTC ns), which the figures are of.
        phase: The phase that most of them is in.
    """

    kind: Kind
    confident: bool
    sentences: tuple[Sentence, ...]
    standings: tuple[Standing, ...]
    limiting: Standing | None
    waiting: tuple[Waiting, ...]
    load: LoadResponse
    spans: tuple[tuple[int, int], ...]
    phase: str | None

    @property
    def summary(self) -> str:
        """The conclusion."""
        return self.sentences[0].text

    @property
    def host(self) -> str | None:
        """The host that limits, or on which a queue grew; None where no one does."""
        if self.limiting is not None:
            return self.limiting.host
        return self.waiting[0].figure.subject.host if self.kind == "queue" and self.waiting else None

    @property
    def instance(self) -> str | None:
        """The disk, adapter, processor or process that limits."""
        return self.limiting.instance if self.limiting else None

    @property
    def main(self) -> Figure | None:
        """The figure that tells most: of what limits, or of what came nearest to a limit."""
        if self.limiting is not None:
            return self.limiting.figures[0]
        if self.kind == "queue" and self.waiting:
            return self.waiting[0].figure
        nearest = max((one for one in self.standings if one.figures), key=lambda one: one.state, default=None)
        return nearest.figures[0] if nearest else None


def what_limits(review: Review) -> Limit | None:
    """What limits a run; None if it has no samples."""
    if review.start is None or review.end is None or review.end <= review.start:
        return None
    case = case_of(review)
    found = conclude(case)
    return Limit(
        found.kind,
        found.confident,
        tuple(reasons(case, found)),
        case.standings,
        found.limiting,
        tuple(case.waits),
        case.load,
        case.spans,
        words.phase_of(case.measured, case.load),
    )
