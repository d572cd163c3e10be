"""The host table of the health page. Its columns are signals; its rows are hosts, the worst first."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from starlette.datastructures import QueryParams

from plimsoll.alerting.firing import Firing, Incident
from plimsoll.alerting.health import HostHealth, HostState
from plimsoll.alerting.wording import describe_cause
from plimsoll.dashboards.areas import load_areas
from plimsoll.dashboards.limits import format_limit
from plimsoll.model.remark import join_names
from plimsoll.model.series import HostKey, make_host_key
from plimsoll.pages.health.host_cells import CROSSED, HostCell
from plimsoll.pages.health.judged_hosts import JudgedHosts
from plimsoll.rules.load import Catalogue
from plimsoll.rules.schema.field_types import Severity

STEP = 100  # hosts shown at first, and added at a time
MOST = 2000
_LONGEST = 100
_NUMBERED = re.compile(r"[-_.]?\d+$")


@dataclass(frozen=True, slots=True)
class HostChoice:
    """The filter and grouping of the host table; an empty filter selects all hosts.

    `text` is a part of the host name, `state` a grade, `label` a host label such as `site=Berlin`. `group` says what
    hosts are grouped by: `name`, `pack`, or the name of a label. At most `rows` hosts are shown.
    """

    text: str = ""
    state: str = ""
    label: str = ""
    group: str = ""
    rows: int = STEP

    @classmethod
    def of(cls, query: QueryParams) -> "HostChoice":
        """Return the filter and grouping that the parameters of a URL set."""
        text, state, label, group = (query.get(key, "")[:_LONGEST].strip() for key in ("q", "state", "label", "group"))
        rows = query.get("rows", "")
        return cls(text, state, label, group, min(int(rows), MOST) if rows.isdecimal() and len(rows) < 6 else STEP)

    @property
    def parameters(self) -> dict[str, str | int | None]:
        """The URL parameters that set this filter and grouping; None for parameters that are not set."""
        fields = {"q": self.text, "state": self.state, "label": self.label, "group": self.group}
        return {name: value or None for name, value in fields.items()}

    @property
    def is_all(self) -> bool:
        """Whether the filter selects every host."""
        return not (self.text or self.state or self.label)

    def takes(self, name: str, grade: str, labels: Mapping[str, str]) -> bool:
        """Return whether the filter selects a host with this name, grade and labels."""
        name_, _, value = self.label.partition("=")
        return (
            self.text.casefold() in name.casefold()
            and self.state in ("", grade)
            and (not self.label or labels.get(name_) == value)
        )

    def group_of(self, name: str, labels: Mapping[str, str], packs: Collection[str]) -> str:
        """Return the title of the group that a host belongs to; empty if hosts are not grouped.

        Grouped by name, hosts whose names differ only in the number at the end share a group, such as `WEB*`.
        """
        match self.group:
            case "":
                return ""
            case "name":
                short = name if re.fullmatch(r"[\d.:]+", name) else name.partition(".")[0]
                shared = _NUMBERED.sub("", short)
                return f"{shared}*" if shared and shared != short else short
            case "pack":
                return ", ".join(sorted(packs)) or "no pack"
            case other:
                return f"{other}={labels[other]}" if other in labels else f"without {other}"


MOST_COLUMNS = 5
_MOST_CROSSED = 3
Grade = Literal["critical", "warning", "silent", "not judged", "pending", "healthy"]
_ORDER: tuple[Grade, ...] = ("critical", "warning", "silent", "not judged", "pending", "healthy")


@dataclass(frozen=True, slots=True)
class HostColumn:
    """A column of the host table: a signal, and its limit as text (empty if the shown hosts have different limits)."""

    signal: str
    title: str
    limit: str


@dataclass(frozen=True, slots=True)
class HostRow:
    """A row of the host table. `cells` has a cell for each column, None where the host lacks the signal.

    `crossed` has the worst crossed signals without a column; `left_out` counts the further crossed signals.
    `is_silent` means that the host sends no samples. `mark` is the severity of a silent host's incident, else its
    grade. `pending` is the highest severity of its pending limits.
    """

    name: str
    grade: Grade
    note: str
    newest: int | None
    cells: Sequence[HostCell | None]
    crossed: Sequence[HostCell]
    left_out: int
    is_silent: bool
    mark: str
    pending: Severity


@dataclass(frozen=True, slots=True)
class Tile:
    """The tile of a host on the wall view. `short` is the host's name, without the domain if still unique."""

    name: str
    short: str
    grade: Grade
    note: str


@dataclass(frozen=True, slots=True)
class HostGroup:
    """A group of rows: its title, the number of hosts of each grade, and the rows that are shown."""

    title: str
    grades: Mapping[Grade, int]
    rows: Sequence[HostRow]


@dataclass(frozen=True, slots=True)
class HostTable:
    """The host table, filtered and grouped.

    `grades` counts all hosts by grade, `total` the selected hosts, `left_out` the selected hosts that are not shown.
    `has_crossed` means that a crossed signal of a host has no column. `level` is the highest water level of all cells,
    None if no cell has a level. `pending` is the highest severity of pending limits. `tiles` are the selected hosts
    for the wall view.
    """

    columns: Sequence[HostColumn]
    groups: Sequence[HostGroup]
    rows: Sequence[HostRow]
    grades: Mapping[Grade, int]
    total: int
    has_crossed: bool
    level: float | None
    pending: Severity
    left_out: int
    tiles: Sequence[Tile]


@dataclass(frozen=True)
class HostOverview:
    """All hosts: their states, firing alerts, current limits, and labels (by case-folded host name)."""

    health: Sequence[HostHealth]
    firing: Firing
    judged: JudgedHosts
    labels: Mapping[str, Mapping[str, str]] = field(default_factory=dict[str, Mapping[str, str]])


@dataclass(frozen=True, slots=True)
class _GradedHost:
    """A host with its grade, and the severity and cause of its most severe incident (empty without an incident)."""

    key: HostKey
    health: HostHealth
    grade: Grade
    severity: Severity | Literal[""]
    cause: str


def build_host_table(hosts: HostOverview, choice: HostChoice, catalogue: Catalogue) -> HostTable:
    """Return the table of the hosts that `choice` selects, the worst first.

    Hosts that have an alert but are not in the host inventory are included.
    """
    health = {make_host_key(host.name): host for host in hosts.health}
    for key, incidents in hosts.firing.of_host.items():
        if key and key not in health:
            health[key] = HostHealth(incidents[0].worst.host, HostState.ALERT, "not in the host inventory")
    graded = [
        _GradedHost(key, host, _grade_host(key, host, hosts), fires[0].severity if fires else "", _find_cause(fires))
        for key, host in health.items()
        for fires in [hosts.firing.of_host.get(key, ())]
    ]
    graded.sort(key=lambda host: (_ORDER.index(host.grade), host.key))
    chosen = [host for host in graded if choice.takes(host.health.name, host.grade, hosts.labels.get(host.key, {}))]
    signals = _choose_signals([host.key for host in chosen], hosts.judged, catalogue)
    by_title: dict[str, list[_GradedHost]] = {}
    for host in chosen:
        packs = hosts.judged.packs(host.key) if choice.group == "pack" else ()
        title = choice.group_of(host.health.name, hosts.labels.get(host.key, {}), packs)
        by_title.setdefault(title, []).append(host)
    groups: list[HostGroup] = []
    rows: list[HostRow] = []
    for title, members in by_title.items():
        shown = members[: choice.rows - len(rows)]
        group_rows = [_build_row(host, hosts.judged.cells(host.key), signals) for host in shown]
        rows += group_rows
        groups.append(HostGroup(title, _count(members), group_rows))
    columns: list[HostColumn] = []
    for at, signal in enumerate(signals):
        cells = [cell for row in rows if (cell := row.cells[at])]
        limits = {format_limit(cell.usual, cell.unit) for cell in cells if cell.usual}
        columns.append(HostColumn(signal, catalogue.signals[signal].title, limits.pop() if len(limits) == 1 else ""))
    return HostTable(
        columns=columns,
        groups=groups,
        rows=rows,
        grades=_count(graded),
        total=len(chosen),
        has_crossed=any(row.crossed for row in rows),
        level=hosts.judged.level,
        pending=_find_gravest(row.pending for row in rows if row.grade == "pending"),
        left_out=len(chosen) - len(rows),
        tiles=_build_tiles(chosen),
    )


def _build_tiles(hosts: Sequence[_GradedHost]) -> list[Tile]:
    names = [(host, host.health.name, host.health.name.partition(".")[0]) for host in hosts]
    counts = Counter(short.casefold() for _, _, short in names)
    return [
        Tile(
            name,
            short if short and not short.isdecimal() and counts[short.casefold()] == 1 else name,  # no address
            host.grade,
            host.cause or host.health.note,
        )
        for host, name, short in names
    ]


def _count(hosts: Iterable[_GradedHost]) -> Mapping[Grade, int]:
    """Return the number of hosts of each grade, the worst grade first."""
    counts = Counter[Grade](host.grade for host in hosts)
    return {grade: counts[grade] for grade in _ORDER if counts[grade]}


def _grade_host(key: HostKey, host: HostHealth, hosts: HostOverview) -> Grade:
    alerts = [alert for incident in hosts.firing.of_host.get(key, ()) for alert in incident.alerts]
    if any(alert.severity == "critical" and alert.kind != "host-silent" for alert in alerts):
        return "critical"
    if any(alert.severity == "warning" for alert in alerts):
        return "warning"
    if host.state == HostState.SILENT:
        return "silent"
    if host.state == HostState.NOT_JUDGED:
        return "not judged"
    return "pending" if key in hosts.judged.pending else "healthy"


def _find_cause(incidents: Sequence[Incident]) -> str:
    """Return the cause of a host's most severe incident, without the host name; empty without an incident."""
    worst = (incident.worst for incident in incidents)
    alert = next((alert for alert in worst if alert.host and alert.kind != "host-silent"), None)
    if alert is None:
        return ""
    text = describe_cause(alert).removeprefix(alert.host).removeprefix(":").strip()
    return text.replace(f" of {alert.host} ", " ")


def _choose_signals(hosts: Sequence[HostKey], judged: JudgedHosts, catalogue: Catalogue) -> list[str]:
    """Return the signals that get a column: crossed signals first, then signals that rules judge on many hosts.

    Both are in the order of `areas.yaml`. Signals that only notes judge get one if no other signal is judged.
    """
    health = load_areas().health
    counts, judged_signals = Counter[str](), set[str]()
    for ids, count in Counter(map(judged.rules, hosts)).items():
        rules = [catalogue.rules[id_] for id_ in ids if id_ in catalogue.rules]
        counts.update(dict.fromkeys({rule.signal for rule in rules}, count))
        severe = [rule for rule in rules if rule.severity != "info" and not (rule.measured_on and rule.where)]
        judged_signals |= {rule.signal for rule in severe}
    crossed = {signal for host in hosts for signal in judged.crossed.get(host, ())}
    limits = (catalogue.rules[rule].signal for group in health.limits for rule in group if rule in catalogue.rules)
    signals = [signal for signal in dict.fromkeys([*health.hosts, *limits]) if signal in counts]
    few = max(counts.values(), default=0) // 20

    signals = [signal for signal in signals if signal in judged_signals or signal in crossed] or signals

    def rank(signal: str) -> tuple[object, ...]:
        return signal not in crossed, counts[signal] <= few, signal not in health.hosts

    best = sorted(signals, key=rank)[:MOST_COLUMNS]
    return sorted((signal for signal in signals if signal in best), key=lambda signal: signal not in crossed)


def _build_row(host: _GradedHost, cells: Mapping[str, HostCell], signals: Sequence[str]) -> HostRow:
    """Return the row of a host with the cells of the columns `signals`."""
    crossed = [cell for signal, cell in cells.items() if signal not in signals and cell.standing in CROSSED]
    crossed.sort(key=lambda cell: cell.place)
    pending = sorted((cell for cell in cells.values() if cell.standing == "pending"), key=lambda cell: cell.place)
    note = host.cause or host.health.note
    if host.cause and host.health.state == HostState.SILENT:
        note = f"{host.cause}; {host.health.note}"
    if host.grade == "pending" and pending:
        note = f"{join_names([cell.title for cell in pending], 1)} crossed"
    return HostRow(
        name=host.health.name,
        grade=host.grade,
        note=note,
        newest=host.health.newest,
        cells=[cells.get(signal) for signal in signals],
        crossed=crossed[:_MOST_CROSSED],
        left_out=len(crossed[_MOST_CROSSED:]),
        is_silent=host.health.state == HostState.SILENT,
        mark=(host.grade == "silent" and host.severity) or host.grade,
        pending=_find_gravest(cell.severity for cell in pending),
    )


def _find_gravest(severities: Iterable[Severity]) -> Severity:
    return "critical" if "critical" in severities else "warning"
