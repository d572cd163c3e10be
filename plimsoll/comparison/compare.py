"""Two runs compared: a baseline, and another run that is held against it."""

from dataclasses import dataclass
from functools import cached_property

from plimsoll.comparison.hosts import Hosts
from plimsoll.comparison.judging import Compared, Outcome, judged
from plimsoll.comparison.levels import Level
from plimsoll.comparison.loads import LoadComparison, compare_loads
from plimsoll.comparison.pairs import Lone, Pair, pairs
from plimsoll.comparison.phases import CommonPhase, chosen_phase, common_phases
from plimsoll.comparison.setup import Changed, set_differently
from plimsoll.comparison.thresholds import Thresholds, thresholds
from plimsoll.comparison.treatments import Treatments
from plimsoll.insights.insights import Insights
from plimsoll.model.host_key import host_key
from plimsoll.review.review import Review
from plimsoll.review.statistics import Weights


@dataclass(frozen=True, eq=False)
class Side:
    """One of the runs: what to call it, as what it was named on the command line, and what is known of it."""

    name: str
    source: str
    insights: Insights

    @property
    def called(self) -> str:
        """Its name within a sentence: in quotes unless it is a word."""
        return self.name if self.name.replace("-", "").replace("_", "").isalnum() else f"“{self.name}”"

    @property
    def review(self) -> Review:
        """Its review."""
        return self.insights.review


@dataclass(frozen=True, eq=False)
class Comparison:
    """A run (`second`) compared with the baseline (`first`). `phase` is the one to judge by; None: the usual one."""

    first: Side
    second: Side
    treatments: Treatments
    match_hosts: bool = False
    asked_phase: str | None = None

    @cached_property
    def hosts(self) -> Hosts:
        """Which hosts belong together."""
        return Hosts.of_reviews(self.first.review, self.second.review, match=self.match_hosts)

    @cached_property
    def set_differently(self) -> tuple[Changed, ...]:
        """The labels and facts of hosts that differ."""
        return set_differently(self.first.review, self.second.review, self.hosts)

    @cached_property
    def phases(self) -> tuple[CommonPhase, ...]:
        """The phases both runs have, and the whole run."""
        return common_phases(self.first.review, self.second.review)

    @cached_property
    def phase(self) -> CommonPhase:
        """The phase that the comparison is judged by."""
        return chosen_phase(self.phases, self.asked_phase)

    @cached_property
    def load(self) -> LoadComparison:
        """Whether both were under the same load."""
        return compare_loads(self.first.review, self.second.review, self.phase, self.treatments)

    @cached_property
    def thresholds(self) -> Thresholds:
        """What was crossed in one run only."""
        return thresholds(self.first.review, self.second.review, self.hosts)

    @cached_property
    def lone(self) -> tuple[list[Lone], list[Lone]]:
        """Signals that only the first, and only the second, has on hosts that both have."""
        return self._pairs[1]

    @cached_property
    def judged(self) -> tuple[Compared, ...]:
        """Every signal in the phase to judge by, the most important difference first."""
        return self.in_phase(self.phase)

    def in_phase(self, phase: CommonPhase) -> tuple[Compared, ...]:
        """Every signal in a phase, the most important difference first."""
        if phase.name not in self._known:
            self._known[phase.name] = tuple(sorted(judged(list(self._compared(phase))), key=_rank))
        return self._known[phase.name]

    def of(self, *outcomes: Outcome) -> list[Compared]:
        """The signals of which the comparison says one of these, in the phase to judge by."""
        return [one for one in self.judged if one.outcome in outcomes]

    @property
    def regressions(self) -> list[Compared]:
        """What became worse."""
        return self.of(Outcome.REGRESSION)

    def also_worse(self) -> list[tuple[CommonPhase, list[Compared]]]:
        """What became worse in the other phases, and did not in the one to judge by."""
        known = {(one.name, one.subject) for one in self.regressions}
        phases = [one for one in self.phases if one is not self.phase and one.first is not None]
        found = [
            (phase, [one for one in self.in_phase(phase) if one.outcome == Outcome.REGRESSION]) for phase in phases
        ]
        new = [(phase, [one for one in some if (one.name, one.subject) not in known]) for phase, some in found]
        return [(phase, some) for phase, some in new if some]

    @cached_property
    def _known(self) -> dict[str, tuple[Compared, ...]]:
        return {}

    @cached_property
    def _weights(self) -> Weights:
        return Weights()

    @cached_property
    def _pairs(self) -> tuple[list[Pair], tuple[list[Lone], list[Lone]]]:
        return pairs(self.first.review, self.second.review, self.hosts)

    def _compared(self, phase: CommonPhase) -> list[Compared]:
        crossed = self.thresholds.order
        found: list[Compared] = []
        for one in self._pairs[0]:
            first = Level.of(one.first_samples, phase.first, self._weights)
            second = Level.of(one.second_samples, phase.second, self._weights)
            if first is None or second is None:
                continue
            treatment = self.treatments.of(one.name, one.signal)
            limit = crossed.get((one.name, *one.first.key))
            subjects, levels = (one.first, one.second), (first, second)
            found.append(Compared.of(one.name, one.signal, subjects, levels, treatment, crossed=limit))
        return found


_ORDER = (
    Outcome.REGRESSION,
    Outcome.IMPROVEMENT,
    Outcome.CHANGE,
    Outcome.WITHIN,
    Outcome.UNCLEAR,
    Outcome.SAME,
)


def _rank(one: Compared) -> tuple[object, ...]:
    """The order of comparisons: regressions of critical signals first, and of them those that crossed a limit."""
    return (
        _ORDER.index(one.outcome),
        not one.treatment.critical,
        float("inf") if one.crossed is None else one.crossed,
        -one.size,
        one.name,
        host_key(one.subject.host),
        one.subject.instance or "",
    )
