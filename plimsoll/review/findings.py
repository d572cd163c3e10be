"""How to judge a run (`Question`), and the result: a `Finding` for each rule and subject (host or instance)."""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import field
from enum import StrEnum
from functools import cached_property
from math import isnan, log

from plimsoll.hosts.facts import Drives
from plimsoll.hosts.overrides import Override, Overrides
from plimsoll.model.group_pairs import group_pairs
from plimsoll.model.lazy_dataclass import dataclass
from plimsoll.model.run import Phase, Planned
from plimsoll.model.samples import Samples
from plimsoll.model.series import make_host_key
from plimsoll.rules.crossings import NO_CROSSINGS, Crossing, CrossingColumns
from plimsoll.rules.evaluations import RuleEvaluation
from plimsoll.rules.schema.field_types import Resource
from plimsoll.rules.schema.pack import Pack, Rule
from plimsoll.rules.schema.signal import Signal
from plimsoll.rules.subjects import Subject
from plimsoll.rules.wording import SEVERITIES


class Outcome(StrEnum):
    """The result of a rule for one subject, worst first.

    Only CROSSED, OFTEN and WITHIN mean that the rule was judged. OFTEN: crossed for a large share of the time, but
    never long enough to fire. TOO_SHORT: the recording is shorter than a crossing must last to count.
    """

    CROSSED = "crossed"
    OFTEN = "often-crossed"
    TOO_SHORT = "too-short"
    WITHIN = "held"
    NO_DATA = "no-data"
    NOT_JUDGED = "not-judged"
    NOT_RECORDED = "not-recorded"
    DOES_NOT_APPLY = "does-not-apply"
    OFF = "off"


CROSSED = (Outcome.CROSSED, Outcome.OFTEN)
JUDGED = (*CROSSED, Outcome.WITHIN)
_OUTCOME = {outcome: at for at, outcome in enumerate(Outcome)} | {Outcome.OFTEN: 0}


@dataclass(frozen=True, slots=True)
class Use:
    """The mean use of a resource by one process while a threshold was crossed (`inside`).

    `otherwise` is the mean use in the rest of `phase`, the phase that contains the crossing. It is None if phases are
    unknown, if no single phase contains the crossing, or if the crossing fills nearly the whole phase.
    """

    instance: str
    inside: float
    otherwise: float | None
    phase: str = ""


@dataclass(frozen=True)
class Processes:
    """For each crossing, by start (UTC ns), the processes that used most of the resource `signal`, highest first."""

    signal: Signal
    by_breach: Mapping[int, tuple[Use, ...]]


@dataclass(frozen=True, eq=False)
class Finding:
    """The result of one rule for one subject. `subject` is None if the rule's pack applies to no host.

    Attributes:
        rule: The rule as judged, with its override and its severity on this host.
        override: The changes by plimsoll.toml.
        samples: The signal as drawn, in its unit.
        sampled: The signal as sampled, if a limit for its mean was crossed; else None.
        ended: The last judged sample of the host (UTC ns, whole second); no crossing ends later. None without samples.
        notes: Assumptions of the judgement: a widened window, an unknown phase, a host fact.
        needs: What is missing to judge the rule: a fact (`memory_mb`) or marked drives (`drive = "database"`).
        covered: The longest time (ns) with samples in a window; None if samples cover whole windows.
        superseded_by: The current rules that were judged instead, so that this old limit has severity info.
    """

    pack: Pack
    rule: Rule
    signal: Signal
    outcome: Outcome
    subject: Subject | None = None
    track: RuleEvaluation | None = None
    samples: Samples | None = None
    sampled: Samples | None = None
    ended: int | None = None
    notes: tuple[str, ...] = ()
    override: Override | None = None
    processes: Processes | None = None
    needs: str | None = None
    covered: int | None = None
    superseded_by: tuple[str, ...] = ()

    @property
    def severe(self) -> bool:
        """Whether the verdict depends on the finding: its severity is warning or critical, not info."""
        return self.rule.severity != "info"

    @property
    def documented(self) -> Rule:
        """The rule as its pack documents it, without changes by plimsoll.toml."""
        return self.override.documented if self.override else self.rule

    @cached_property
    def crossings(self) -> CrossingColumns:
        """All crossings, in time order; no crossing lasts beyond the last sample (`ended`)."""
        crossings = self.track.crossings if self.track else NO_CROSSINGS
        return crossings if self.ended is None else crossings.until(self.ended)

    def of_samples(self, crossings: CrossingColumns) -> CrossingColumns:
        """Return the crossings, those by a mean from the first to the last sample past the limit.

        A crossing of a rule for a phase stays within the phase.
        """
        if not self.track or not self.sampled or self.rule.phase:
            return crossings
        return crossings.of_samples(self.sampled, self.track.healthy, self.track.window, in_window=bool(self.rule.and_))

    @property
    def breaches(self) -> CrossingColumns:
        """The crossings that fired: crossings that lasted for the rule's `for` or longer."""
        return self.crossings[self.crossings.fired]

    @property
    def brief(self) -> CrossingColumns:
        """The crossings that ended before they fired, by their samples."""
        return self.of_samples(self.crossings[~self.crossings.fired])

    @property
    def crossed_briefly(self) -> bool:
        """Whether any crossing ended before it fired."""
        return self.track is not None and self.track.matrix.any_brief[self.track.row]

    @cached_property
    def counted(self) -> CrossingColumns:
        """The crossings that count, by their samples: those that fired, or all if the outcome is OFTEN."""
        return self.of_samples(self.crossings if self.outcome == Outcome.OFTEN else self.breaches)

    @property
    def time_crossed(self) -> int:
        """How long (ns) the condition was true in total."""
        return self.track.time_crossed if self.track else 0

    @property
    def longest_fired(self) -> int:
        """The duration of the longest crossing that fired, in ns; 0 if none did."""
        return (self.track.longest_fired or 0) if self.track else 0

    @property
    def stretch(self) -> int | None:
        """The longest time (ns) for which the rule was judged without a break; None if the rule was not judged."""
        return self.track.longest_stretch if self.track and self.track.judged else None

    @property
    def undecided(self) -> bool:
        """Whether the recording is too short to tell whether a crossing counts.

        That is so if a recording shorter than `for` has a crossing at its start or end, or if a recording shorter than
        twice `for` has a crossing that is longer than half of `for`.
        """
        if self.outcome == Outcome.TOO_SHORT and self.crossings.cut.any():
            return True
        once = self.outcome in (Outcome.TOO_SHORT, Outcome.WITHIN) and (self.stretch or 0) < 2 * self.rule.for_
        return once and self.track is not None and 2 * self.track.longest_crossing > self.rule.for_

    @cached_property
    def unfinished(self) -> Crossing | None:
        """The crossing that had not ended, nor fired, when the data ended; None without such a crossing.

        Also None for a rule judged in one phase: the crossing may have ended with the phase, not with the data.
        """
        if self.outcome != Outcome.WITHIN or self.track is None:
            return None
        kept_to_phase = self.rule.phase and self.track.is_phase_determined
        goes_on = self.track.last_crossing == self.track.last_judged and not kept_to_phase
        return self.of_samples(self.crossings)[-1] if goes_on else None

    @property
    def stood_at_end(self) -> bool:
        """Whether the data ended during a crossing that had lasted for over half of the rule's `for`."""
        return self.unfinished is not None and 2 * self.unfinished.duration > self.rule.for_

    @property
    def cannot_fire(self) -> bool:
        """Whether the counters were recorded, but too briefly, without data, or outside the rule's phase."""
        outside_phase = self.outcome == Outcome.NOT_JUDGED and self.needs is None
        return outside_phase or self.outcome in (Outcome.TOO_SHORT, Outcome.NO_DATA)

    @property
    def worst(self) -> float:
        """The worst value: the value nearest to the limit, or furthest past it; NaN without data."""
        return self.track.worst if self.track else float("nan")

    @property
    def share_of_time(self) -> float | None:
        """The share (0 to 1) of evaluations with data at which the condition was true; None without data."""
        return self.track.share_of_time if self.track else None

    @property
    def times_past(self) -> float:
        """The ratio of `nearest` to the limit, or its inverse if low values are unhealthy; 0 if `nearest` is NaN."""
        if self.track is None or isnan(self.nearest):
            return 0.0
        worst, limit = abs(self.nearest), abs(self.track.healthy.limit)
        over, under = (limit, worst) if self.track.healthy.worse == "lower" else (worst, limit)
        return over / under if under else float("inf") if over else 0.0

    @property
    def nearest(self) -> float:
        """The worst value while all other conditions of the rule were met; NaN if they never were."""
        return self.track.nearest if self.track else float("nan")

    @property
    def room(self) -> float | None:
        """The distance of `nearest` from the limit as a share, negative past the limit; None if a share has no meaning.

        The share is of the limit. For a signal that must not fall, it is of the larger of `nearest` and the limit, or
        for a percentage of the range from the limit to 100 %. A limit of 0 and a state (a number that stands for a
        word) give None.
        """
        if self.track is None or isnan(self.nearest) or self.track.healthy.limit == 0 or self.signal.unit == "state":
            return None
        limit, worse = self.track.healthy.limit, self.track.healthy.worse
        distance, whole = self.nearest - limit, abs(limit)
        if worse == "lower":
            whole = 100 - limit if self.signal.unit == "%" and 0 < limit < 100 else max(abs(self.nearest), whole)
        return (-distance if worse == "higher" else distance) / whole


@dataclass(frozen=True)
class Doubt:
    """A reason for the verdict Not known, and advice, as parts of a sentence; `about` is the finding concerned.

    `step` is the advice in a sentence by itself, where that needs other words.
    """

    reason: str
    advice: str = ""
    about: Finding | None = field(default=None, compare=False, repr=False)
    step: str = field(default="", compare=False, repr=False)

    @property
    def sentence(self) -> str:
        """The reason and the advice as one sentence."""
        return f"{self.reason}{f'; {self.advice}' if self.advice else ''}."


@dataclass(frozen=True)
class Applied:
    """A pack, the hosts to which it was applied, and the reason for applying it."""

    pack: Pack
    hosts: tuple[str, ...]
    why: str


@dataclass(frozen=True)
class Question:
    """How to judge a run: the packs, the phases, and the time from `start` to `end` (UTC ns; None: no bound).

    Attributes:
        by_hand: The packs that the user chose by name.
        overrides: The thresholds that plimsoll.toml changes.
        drives: The content of each marked disk: `database` or `log`.
        expected_hosts: The hosts in plimsoll.toml, which must be recorded; empty unless all logs of the run are given.
        resources: The resources that must be judged on every host; empty if the user's packs replace all others.
        whole_run: Whether rules for a phase are judged over the whole run, unless phases are set by hand.
        in_operation: Whether the hosts are in operation, not in a test, so that no phases are sought.
        apart: Whether the hosts are not one system, so that no host's load explains another host.
        planned: Planned work, during which nothing is judged.
        scope: A sentence on which of several recordings is judged, if there are several.
    """

    packs: Sequence[Pack]
    signals: Mapping[str, Signal]
    phases: Sequence[Phase] = ()
    start: int | None = None
    end: int | None = None
    by_hand: Set[str] = frozenset()
    overrides: Overrides = field(default_factory=Overrides)
    drives: Drives = field(default_factory=dict[Subject, str])
    expected_hosts: tuple[str, ...] = ()
    resources: tuple[Resource, ...] = ("cpu", "memory", "disk")
    whole_run: bool = False
    in_operation: bool = False
    apart: bool = False
    planned: Sequence[Planned] = ()
    scope: tuple[str, ...] = ()


def sort_worst_first(findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings sorted worst first.

    Crossed findings of one rule whose durations differ by less than about a tenth are sorted by their worst values.
    """
    ranked = sorted(findings, key=_rank)
    by_rule = group_pairs(
        ((finding.rule.id, finding.outcome), at) for at, finding in enumerate(ranked) if finding.outcome in CROSSED
    )
    for places in by_rule.values():
        alike = sorted((ranked[at] for at in places), key=_rank_by_value)
        for at, finding in zip(places, alike, strict=True):
            ranked[at] = finding
    return ranked


def _rank_by_value(finding: Finding) -> tuple[int, int, int, float]:
    """Return a sort key: severity, then durations rounded to about a tenth, then the worst value."""
    longest, in_all = (round(log(max(value, 1)) / log(1.1)) for value in (finding.longest_fired, finding.time_crossed))
    return SEVERITIES.index(finding.rule.severity), -longest, -in_all, -finding.times_past


def _rank(finding: Finding) -> tuple[object, ...]:
    """Return a sort key, worst first: crossed by severity and duration, too short, within limits by room, unjudged."""
    subject = finding.subject
    name = finding.rule.id, make_host_key(subject.host) if subject else "", (subject.instance or "") if subject else ""
    if finding.track is None:  # most findings: not recorded
        return _OUTCOME[finding.outcome], 0, False, 0, 0, 0, float("inf"), *name
    crossed = finding.outcome in CROSSED
    room = finding.room
    return (
        _OUTCOME[finding.outcome],
        SEVERITIES.index(finding.rule.severity) if crossed or finding.outcome == Outcome.TOO_SHORT else 0,
        finding.outcome == Outcome.OFTEN,
        -finding.longest_fired,
        -finding.time_crossed if crossed else 0,
        -finding.times_past if crossed else 0,
        room if room is not None else float("inf"),
        *name,
    )


def rank_nearness(finding: Finding) -> tuple[bool, bool, float, float, float]:
    """Return a sort key of findings within limits: severe findings first, then briefly crossed findings, then by room.

    Findings whose `room` is None follow, the least healthy worst value first.
    """
    room = finding.room
    brief = finding.crossed_briefly
    crossed = -(finding.share_of_time or 0) if brief else 0.0
    lower = finding.rule.healthy.worse == "lower"
    worst = float("inf") if isnan(finding.worst) else finding.worst if lower else -finding.worst
    return not finding.severe, not brief, crossed, float("inf") if room is None else room, worst
