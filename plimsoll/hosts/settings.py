"""plimsoll.toml: facts that the logs of a run lack, and changed thresholds. docs/settings.md describes the file."""

import os
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from math import isfinite
from pathlib import Path
from typing import Annotated, Any, Literal

from plimsoll.hosts.facts import ConfiguredFacts, Drives
from plimsoll.hosts.objective import ObjectiveSettings
from plimsoll.hosts.overrides import GroupRules, Overrides, RuleSettings, list_mistakes
from plimsoll.model import user_files
from plimsoll.model.errors import Unusable, escape, limit_mistakes, suggest
from plimsoll.model.file_models import FieldBounds, FieldParser, entry, file_model
from plimsoll.model.log import Log
from plimsoll.model.run import Phase, Planned, Run
from plimsoll.model.series import make_host_key
from plimsoll.model.strict_toml import decode_text, parse_toml
from plimsoll.model.time_arguments import is_outside
from plimsoll.model.times import Zone, convert_to_instant
from plimsoll.rules.schema.pack import Rule
from plimsoll.rules.schema.signal import Signal
from plimsoll.rules.subjects import Subject

_SHARE = re.compile(r"(\d+(?:\.\d+)?) ?%")
_AMOUNT = re.compile(r"\d+(?:\.\d+)?(?: ?[^\d\s].*)?")


def _parse_tolerance(value: object) -> object:
    match = _SHARE.fullmatch(value.strip()) if isinstance(value, str) else None
    share = float(match[1]) / 100 if match else None
    if share is None or not isfinite(share):
        raise ValueError('is not a share of the baseline; write it like "5 %"')
    return share


def _parse_amount(value: object) -> object:
    if isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value) and value >= 0:
        return str(value)
    if isinstance(value, str) and _AMOUNT.fullmatch(value.strip()):
        return value.strip()
    raise ValueError('is not an amount; write it like "2 ms", in the unit of the signal')


Tolerance = Annotated[float, FieldParser(_parse_tolerance)]
Amount = Annotated[str, FieldParser(_parse_amount)]


@file_model
class SignalSettings:
    """How a signal is compared between runs. None stands for the default.

    Attributes:
        tolerance: The smallest change that matters, as a share of the baseline's value.
        least: The smallest change that matters, in the unit of the signal.
        spread: The standard deviation of run means between runs of one build, as a share of the mean.
        worse: The direction that is a regression; with `either`, no change is a regression.
        needed: Whether a comparison needs samples of the signal in both runs.
        integrates: Whether the signal adds up over time, so that its mean has no meaning.
        critical: Whether a regression of the signal fails the comparison.
        why: The reason for these settings.
    """

    tolerance: Tolerance | None = None
    least: Amount | None = None
    spread: Tolerance | None = None
    integrates: bool | None = None
    worse: Literal["higher", "lower", "either"] | None = None
    needed: bool | None = None
    critical: bool | None = None
    why: str = ""


@file_model
class CompareSettings:
    """The `[compare]` table, on the comparison of a run with a baseline.

    Loads that differ by less than the share `load` are equal. `renamed` maps hosts of the baseline to those of the run.
    """

    load: Tolerance | None = None
    tolerance: Tolerance | None = None
    signals: dict[str, SignalSettings] = entry(default_factory=dict)
    renamed: dict[str, str] = entry(default_factory=dict)


FILE_NAME = "plimsoll.toml"
_PHASES = ("ramp-up", "steady", "ramp-down")  # the names of the phases around a span called steady
_STEP = re.compile(r"step [1-9]\d{0,3}")
_YEARS = range(1980, 2200)  # nanoseconds overflow in much later years


def _require_zone(value: object) -> object:
    if isinstance(value, datetime) and value.tzinfo is None:
        raise ValueError("has no offset; write it like 2008-01-15T10:02:00+01:00")
    if isinstance(value, datetime) and value.year not in _YEARS:
        raise ValueError(f"is in the year {value.year}; write a time of the recording")
    return value


Moment = Annotated[datetime, FieldParser(_require_zone)]


@file_model
class PhaseSettings:
    """A phase of the run, from `start` to `end`, both included."""

    name: str
    start: Moment = entry(alias="from")
    end: Moment = entry(alias="to")

    def __post_init__(self) -> None:
        if self.end < self.start:
            raise ValueError(f'phase "{self.name}" ends before it begins')
        if self.end == self.start:
            raise ValueError(f'phase "{self.name}" ends when it begins')


@file_model
class ExceptSettings:
    """A time of planned work, during which limits may be crossed."""

    start: Moment = entry(alias="from")
    end: Moment = entry(alias="to")
    reason: Annotated[str, FieldBounds(min_length=1)]
    rules: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.end <= self.start:
            raise ValueError("it ends before, or when, it begins")


@file_model
class RunSettings:
    """The `[run]` table. `hosts` names computers in the logs that have no `[hosts.NAME]` table.

    `judge` names the resources that must be judged for a verdict, by default all resources. With `whole_run`, rules
    for a phase are judged over the whole run, even if the load shows phases.
    """

    name: str | None = None
    hosts: tuple[Annotated[str, FieldBounds(min_length=1)], ...] = ()
    simulated: bool = False
    labels: dict[str, str] = entry(default_factory=dict)
    phases: tuple[PhaseSettings, ...] = ()
    except_: tuple[ExceptSettings, ...] = entry(default=(), alias="except")
    judge: tuple[Literal["cpu", "memory", "disk"], ...] = ()
    whole_run: bool = False


@file_model
class _Facts:
    """The facts that both a host and one of its instances can have."""

    spindles: float | None = entry(default=None, gt=0)
    raid: Literal[0, 1, 5, 10] | None = None
    link_bits: float | None = entry(default=None, gt=0)


@file_model
class InstanceFacts(_Facts):
    """The facts of one instance of a host; if it is a disk, `drive` is what it holds."""

    drive: Literal["database", "log"] | None = None


@file_model
class HostFacts(_Facts):
    """A `[hosts.NAME]` table, with the facts of the host, and of instances whose facts differ.

    `rules` are the host's own thresholds; by `labels`, hosts are selected and grouped.
    """

    processors: float | None = entry(default=None, gt=0)
    clock_mhz: float | None = entry(default=None, gt=0)
    memory_mb: float | None = entry(default=None, gt=0)
    labels: dict[str, str] = entry(default_factory=dict)
    instances: dict[str, InstanceFacts] = entry(default_factory=dict)
    rules: dict[str, RuleSettings] = entry(default_factory=dict)


@file_model
class LabelSettings:
    """The thresholds of the hosts that have a label with one certain value."""

    rules: dict[str, RuleSettings]


@file_model
class Settings:
    """The whole content of plimsoll.toml. Of `[hosts]`, tables whose name is a pattern (with `*`) have rules alone."""

    run: RunSettings = entry(default_factory=RunSettings)
    hosts_: dict[str, HostFacts] = entry(default_factory=dict, alias="hosts")
    labels_: dict[str, dict[str, LabelSettings]] = entry(default_factory=dict, alias="labels")
    rules: dict[str, RuleSettings] = entry(default_factory=dict)
    compare: CompareSettings = entry(default_factory=CompareSettings)
    objective: ObjectiveSettings = entry(default_factory=ObjectiveSettings)

    def __post_init__(self) -> None:
        for name, table in self.patterns.items():
            for fact, value in vars(table).items():
                if fact != "rules" and value != getattr(HostFacts(), fact):
                    raise ValueError(f'hosts."{name}".{fact}: a pattern of names takes rules alone; name each host')

    @property
    def hosts(self) -> Mapping[str, HostFacts]:
        """The tables of hosts by name."""
        return {name: table for name, table in self.hosts_.items() if "*" not in name}

    @property
    def patterns(self) -> Mapping[str, HostFacts]:
        """The tables of patterns of host names."""
        return {name: table for name, table in self.hosts_.items() if "*" in name}

    @property
    def groups(self) -> tuple[GroupRules, ...]:
        """The rule settings by host name patterns, the most exact first, then by labels in the order of the file."""
        exact_first = sorted(self.patterns.items(), key=lambda item: -len(item[0].replace("*", "")))
        return (
            *(GroupRules(f'hosts."{name}"', facts.rules, pattern=name) for name, facts in exact_first),
            *(
                GroupRules(f"labels.{name}.{value}", table.rules, label=(name, value))
                for name, values in self.labels_.items()
                for value, table in values.items()
            ),
        )

    def described_run(self) -> Run:
        """Return the run that the `[run]` table describes, with its name, labels and phases."""
        phases = tuple(Phase(p.name, convert_to_instant(p.start), convert_to_instant(p.end)) for p in self.run.phases)
        return Run(self.run.name, dict(self.run.labels), phases, self.run.simulated)

    def planned(self) -> tuple[Planned, ...]:
        """Return the times of planned work, during which limits may be crossed."""
        return tuple(
            Planned(convert_to_instant(planned.start), convert_to_instant(planned.end), planned.reason, planned.rules)
            for planned in self.run.except_
        )

    @property
    def named_hosts(self) -> tuple[str, ...]:
        """All hosts in `[run]` and `[hosts]`, without duplicates that differ only in case."""
        by_name = {make_host_key(host): host for host in reversed((*self.run.hosts, *self.hosts))}
        return tuple(reversed(by_name.values()))

    def labels(self) -> Mapping[str, Mapping[str, str]]:
        """Return the labels of each host that has any, by its case-folded name."""
        return {make_host_key(host): facts.labels for host, facts in self.hosts.items() if facts.labels}

    def facts(self) -> ConfiguredFacts:
        """Return the facts of each host and instance; a host without facts has an empty entry."""
        listed = {make_host_key(host) for host in self.hosts}
        facts_of = {Subject(host): {} for host in self.run.hosts if make_host_key(host) not in listed}
        for host, facts in self.hosts.items():
            for instance, table in ((None, facts), *facts.instances.items()):
                numbers = {name: value for name, value in vars(table).items() if isinstance(value, int | float)}
                facts_of[Subject(host, instance)] = numbers
        return facts_of

    def drives(self) -> Drives:
        """Return what each disk with a `drive` holds, by host and instance."""
        return {
            Subject(host, instance): instance_facts.drive
            for host, facts in self.hosts.items()
            for instance, instance_facts in facts.instances.items()
            if instance_facts.drive
        }

    def overrides(self, path: Path, rules: Mapping[str, Rule], signals: Mapping[str, Signal]) -> Overrides:
        """Return all rule settings. Raise Unusable, naming the setting, if a threshold does not fit its rule."""
        tables = [("rules", self.rules), *((f"hosts.{host}.rules", facts.rules) for host, facts in self.hosts.items())]
        tables += [(f"{group.place}.rules", group.rules) for group in self.groups]
        wrong = [
            *limit_mistakes(
                mistake for place, table in tables for mistake in list_mistakes(place, table, rules, signals)
            )
        ]
        by_host: dict[str, dict[str, RuleSettings]] = {}
        for host, facts in self.hosts.items():
            by_host.setdefault(make_host_key(host), {}).update(facts.rules)
        if wrong:
            raise Unusable(*(f"{path}: {text}" for text in wrong))
        return Overrides(self.rules, by_host, signals, self.groups, self.labels())


def find(logs: Sequence[Log], named: Path | None) -> Path | None:
    """Return the path of the settings, `named` or else plimsoll.toml in the folder of the logs.

    Return None if that folder has no such file, or if the logs are in several folders.
    """
    if named is not None:
        return named
    beside = {(log.file or log.path).parent / FILE_NAME for log in logs if not log.is_of_server}
    # An unreadable file, such as a broken link, is returned as well: reading it raises an error.
    return next(iter(beside)) if len(beside) == 1 and os.path.lexists(next(iter(beside))) else None


def load(path: Path) -> Settings:
    """Read a plimsoll.toml. Raise Unusable, naming the file and the setting, if it is invalid."""
    return parse(read_settings_text(path), path)


def read_settings_text(path: Path) -> str:
    """Return the text of a plimsoll.toml. Raise Unusable if the file cannot be read."""
    return decode_text(user_files.read(path), path)


def parse(text: str, path: Path) -> Settings:
    """Parse the text of the file `path`. Raise Unusable, naming the file and the setting, if the text is invalid."""

    def explain_missing_reason(detail: Any) -> str | None:
        if detail["type"] != "missing" or detail["loc"][-1] != "reason":
            return None
        needed = "what was planned" if "except" in detail["loc"] else "why the documented threshold does not hold here"
        return f" is missing: say {needed}"

    return parse_toml(text, path, Settings, explain_missing_reason)


def is_load_step(phase: str) -> bool:
    """Return whether a phase is a load step: `step 1`, `step 2` and so on."""
    return _STEP.fullmatch(phase) is not None


def check_phases(
    path: Path | None, phases: Sequence[Phase], rules: Mapping[str, Rule], zone: Zone, start: int, end: int
) -> None:
    """Raise Unusable, naming each phase that has an unknown name, is outside the recording, or overlaps another phase.

    `start` and `end` (UTC ns) are the ends of the recording. A phase may end up to half a day after the recording.
    """
    wrong: list[str] = []
    phase_names = dict.fromkeys((*_PHASES, *(rule.phase for rule in rules.values() if rule.phase)))
    for number, phase in enumerate(phases, 1):
        place, name = f"run.phases.{number}", escape(phase.name)
        if phase.name not in phase_names and not is_load_step(phase.name):
            near = suggest(phase.name.casefold(), list(phase_names))
            wrong.append(
                f'{place}.name: no rule knows a phase "{name}"{near}; phases are called {", ".join(phase_names)}, and '
                'load steps "step 1", "step 2" and so on'
            )
        elif is_outside(phase.start, phase.end, start, end):
            wrong.append(
                f'{place}: the phase "{name}", {zone.span(phase.start, phase.end)}, '
                f"{_explain_outside(zone, start, end)}"
            )
        for before, other in enumerate(phases[: number - 1], 1):
            first, last = max(phase.start, other.start), min(phase.end, other.end)
            if first < last:
                wrong.append(
                    f'run.phases.{before} and {number}: the phases "{escape(other.name)}" and "{name}" overlap, '
                    f"{zone.span(first, last)}; let one end where the other begins"
                )
    if wrong:
        raise Unusable(*(f"{path or FILE_NAME}: {text}" for text in wrong))


def _explain_outside(zone: Zone, start: int, end: int) -> str:
    return (
        f"is no part of the recording, which reaches from {zone.clock(start)} to {zone.clock(end)} "
        f"({zone.label(start)}); are its day and offset right?"
    )


def check_planned(
    path: Path | None, planned: Sequence[Planned], rules: Mapping[str, Rule], zone: Zone, start: int, end: int
) -> None:
    """Raise Unusable, naming each planned time outside the recording, and each unknown rule of a planned time."""
    wrong: list[str] = []
    for number, work in enumerate(planned, 1):
        place = f"run.except.{number}"
        if is_outside(work.start, work.end, start, end):
            wrong.append(f"{place}: {zone.span(work.start, work.end)} {_explain_outside(zone, start, end)}")
        for name in work.rules:
            if name not in rules:
                near = suggest(name, list(rules))
                wrong.append(f'{place}.rules: no rule is named "{escape(name)}"{near}')
    if wrong:
        raise Unusable(*(f"{path or FILE_NAME}: {text}" for text in wrong))
