"""The question that is asked of a run, and the answer: a finding for each rule and subject."""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from math import isnan, log

from plimsoll.hosts.facts import Drives
from plimsoll.hosts.overrides import Override, Overrides
from plimsoll.model.group_pairs import group_pairs
from plimsoll.model.run import Phase, Planned
from plimsoll.model.samples import Samples
from plimsoll.model.series import host_key
from plimsoll.rules.crossings import NO_CROSSINGS, Crossing, CrossingColumns
from plimsoll.rules.evaluations import RuleEvaluation
from plimsoll.rules.schema.field_types import Resource
from plimsoll.rules.schema.pack import Pack, Rule
from plimsoll.rules.schema.signal import Signal
from plimsoll.rules.subjects import Subject
from plimsoll.rules.wording import SEVERITIES


class Outcome(StrEnum):
    """The result of a rule for one subject, worst first.

    Only CROSSED, OFTEN and WITHIN are judged. TOO_SHORT: the recording is shorter than a crossing must last to count.
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
    """How much of a resource one process used on average while a threshold was crossed (`inside`).

    `otherwise` is its mean in the rest of `phase`, the phase that contains the crossing. It is None if phases are
    unknown, if no single phase contains the crossing, or if the phase has no rest.
    """

    instance: str
    inside: float
    otherwise: float | None
    phase: str = ""


@dataclass(frozen=True)
class Processes:
    """The processes that used most of a rule's resource, highest first, by the start of each breach."""

    signal: Signal
    by_breach: Mapping[int, tuple[Use, ...]]


@dataclass(frozen=True, eq=False)
class Finding:
    """The result of one rule for one subject. `subject` is None if the rule's pack applies to no host.

    Attributes:
        rule: The rule as judged, with its override and its severity on this host.
        override: The changes by plimsoll.toml.
        samples: The signal as recorded, in its unit.
        ended: The last judged sample of the host (UTC ns, whole second), at which crossings end; None without samples.
        notes: Assumptions of the judgement: a widened window, an unknown phase, a host fact.
        needs: What is missing to judge the rule: a fact (`memory_mb`) or marked drives (`drive = "database"`).
        covered: The longest part of the window (ns) with samples; None if samples cover the whole window.
        superseded_by: The current rules that were judged instead, so that this old limit has severity info.
    """

    pack: Pack
    rule: Rule
    signal: Signal
    outcome: Outcome
    subject: Subject | None = None
    track: RuleEvaluation | None = None
    samples: Samples | None = None
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
        """The rule as documented, without an override."""
        return self.override.documented if self.override else self.rule

    @cached_property
    def crossings(self) -> CrossingColumns:
        """All crossings, in time order. They end at the last sample at the latest, even if evaluations go on."""
        crossings = self.track.crossings if self.track else NO_CROSSINGS
        return crossings if self.ended is None else crossings.until(self.ended)

    @property
    def breaches(self) -> CrossingColumns:
        """The crossings that fired."""
        return self.crossings[self.crossings.fired]

    @property
    def brief(self) -> CrossingColumns:
        """The crossings that ended before they fired."""
        return self.crossings[~self.crossings.fired]

    @property
    def crossed_briefly(self) -> bool:
        """Whether any crossing ended before it fired."""
        return self.track is not None and self.track.matrix.any_brief[self.track.row]

    @property
    def counted(self) -> CrossingColumns:
        """The crossings that make the finding crossed: crossings that fired, or all crossings if often crossed."""
        return self.crossings if self.outcome == Outcome.OFTEN else self.breaches

    @property
    def time_crossed(self) -> int:
        """How long the condition was true in total, in ns."""
        return self.track.time_crossed if self.track else 0

    @property
    def longest_fired(self) -> int:
        """The duration of the longest crossing that fired, in ns; 0 if none did."""
        return (self.track.longest_fired or 0) if self.track else 0

    @property
    def stretch(self) -> int | None:
        """The longest time judged without a break, in ns; None if nothing was judged."""
        return self.track.longest_stretch if self.track and self.track.judged else None

    @property
    def undecided(self) -> bool:
        """Whether the recording is too short to tell: crossed at its start or end, or for more than half of `for`.

        More than half of `for` is enough only in a recording shorter than twice `for`.
        """
        if self.outcome == Outcome.TOO_SHORT and self.crossings.cut.any():
            return True
        once = self.outcome in (Outcome.TOO_SHORT, Outcome.WITHIN) and (self.stretch or 0) < 2 * self.rule.for_
        return once and self.track is not None and 2 * self.track.longest_crossing > self.rule.for_

    @property
    def unfinished(self) -> Crossing | None:
        """The crossing that continued when the data ended; None if there is none.

        Also None for a rule judged in one phase, as the phase ends its crossings, not the recording.
        """
        if self.outcome != Outcome.WITHIN or self.track is None or not self.crossings:
            return None
        kept_to_phase = self.rule.phase and self.track.is_phase_determined
        goes_on = self.track.crossings.ends[-1] == self.track.last_judged and not kept_to_phase
        return self.crossings[-1] if goes_on else None

    @property
    def stood_at_end(self) -> bool:
        """Whether the value was past its limit at the end of the data, for over half of the time that counts."""
        return self.unfinished is not None and 2 * self.unfinished.duration > self.rule.for_

    @property
    def cannot_fire(self) -> bool:
        """Whether the finding's counters were recorded, but no crossing could have counted."""
        outside_phase = self.outcome == Outcome.NOT_JUDGED and self.needs is None
        return outside_phase or self.outcome in (Outcome.TOO_SHORT, Outcome.NO_DATA)

    @property
    def worst(self) -> float:
        """The value nearest to, or furthest past, the limit; NaN without data."""
        return self.track.worst if self.track else float("nan")

    @property
    def share_of_time(self) -> float | None:
        """The share of evaluations with data at which the condition was true; None without data."""
        return self.track.share_of_time if self.track else None

    @property
    def times_past(self) -> float:
        """How many times the worst value is the limit (for a lower limit the inverse); 0 if that has no meaning."""
        if self.track is None or isnan(self.nearest):
            return 0.0
        worst, limit = abs(self.nearest), abs(self.track.healthy.limit)
        over, under = (limit, worst) if self.track.healthy.worse == "lower" else (worst, limit)
        return over / under if under else float("inf") if over else 0.0

    @property
    def nearest(self) -> float:
        """The value nearest to the limit while all other conditions of the rule were met; NaN if they never were."""
        return self.track.nearest if self.track else float("nan")

    @property
    def room(self) -> float | None:
        """How far `nearest` stayed from the limit, 0 to 1, less where it was crossed; None where it has no meaning.

        The room is a share of the limit. For a signal that must not fall, it is a share of the value that may be lost,
        or
        for a percentage of the range above the limit. A state, a number that stands for a word, has no room.
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
    """A reason, as a sentence without its full stop, and what to do about it; `about` is the finding it concerns."""

    reason: str
    advice: str = ""
    about: Finding | None = field(default=None, compare=False, repr=False)

    @property
    def sentence(self) -> str:
        """The whole sentence."""
        return f"{self.reason}{f'; {self.advice}' if self.advice else ''}."


@dataclass(frozen=True)
class Applied:
    """A pack, the hosts it was applied to, and why."""

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
        expected_hosts: The hosts that plimsoll.toml names, which must be recorded, if all logs of the run are given.
        resources: The resources that must be judged on every host; empty if the user's packs replace all others.
        whole_run: Judge rules for a phase over the whole run unless phases are given, even if some are found.
        in_operation: The hosts were read live, not in a test, so no phases are sought.
        apart: The hosts are not one system, so none explains another.
        planned: Planned work, during which nothing is judged.
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


def worst_first(findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings by rank; findings of one rule that lasted about as long are sorted by the worst value."""
    ranked = sorted(findings, key=_rank)
    by_rule = group_pairs(
        ((finding.rule.id, finding.outcome), at) for at, finding in enumerate(ranked) if finding.outcome in CROSSED
    )
    for places in by_rule.values():
        alike = sorted((ranked[at] for at in places), key=_by_value)
        for at, finding in zip(places, alike, strict=True):
            ranked[at] = finding
    return ranked


def _by_value(finding: Finding) -> tuple[int, int, int, float]:
    """Return a sort key: by severity, then by durations rounded to about a tenth, then by values."""
    longest, in_all = (round(log(max(value, 1)) / log(1.1)) for value in (finding.longest_fired, finding.time_crossed))
    return SEVERITIES.index(finding.rule.severity), -longest, -in_all, -finding.times_past


def _rank(finding: Finding) -> tuple[object, ...]:
    """Return a sort key, worst first: crossed by severity and duration, within limits by room, then not judged."""
    subject = finding.subject
    name = finding.rule.id, host_key(subject.host) if subject else "", (subject.instance or "") if subject else ""
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


def nearness(finding: Finding) -> tuple[bool, bool, float, float, float]:
    """Return a sort key of findings within limits: severe findings first, then briefly crossed findings, then by room.

    If other conditions of the rule were never met, the value nearest to the limit comes first.
    """
    room = finding.room
    brief = finding.crossed_briefly
    crossed = -(finding.share_of_time or 0) if brief else 0.0
    lower = finding.rule.healthy.worse == "lower"
    worst = float("inf") if isnan(finding.worst) else finding.worst if lower else -finding.worst
    return not finding.severe, not brief, crossed, float("inf") if room is None else room, worst
