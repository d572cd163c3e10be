"""The table of hosts by signals on the health page: its columns, and its rows with the worst first."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Literal

from plimsoll.alerting.causes import cause
from plimsoll.alerting.firing import Firing
from plimsoll.alerting.health import HostHealth, HostState
from plimsoll.dashboards.areas import load_areas
from plimsoll.dashboards.limits import shortly
from plimsoll.model.remark import listed
from plimsoll.model.series import HostKey, host_key
from plimsoll.pages.health.choice import Choice
from plimsoll.pages.health.host_cells import CROSSED, Cell
from plimsoll.pages.health.judged_hosts import JudgedHosts
from plimsoll.rules.load import Catalogue
from plimsoll.rules.schema.field_types import Severity

MOST_COLUMNS = 7
_MOST_OTHERS = 3

Grade = Literal["critical", "warning", "silent", "not judged", "pending", "healthy"]
_ORDER: tuple[Grade, ...] = ("critical", "warning", "silent", "not judged", "pending", "healthy")


@dataclass(frozen=True, slots=True)
class Column:
    """A signal, and its limit if that is the same for all hosts that are shown."""

    signal: str
    title: str
    limit: str


@dataclass(frozen=True, slots=True)
class Row:
    """A host. `cells` are those of the columns, None for signals that it does not have.

    `others` are crossed and in no column; `more` is how many of them are left out. `is_blank`: nothing is known of a
    silent host's signals. `pending` is the gravest severity of the limits that are crossed but not for long enough.
    """

    name: str
    grade: Grade
    note: str
    newest: int | None
    cells: Sequence[Cell | None]
    others: Sequence[Cell]
    more: int
    is_blank: bool
    pending: Severity


@dataclass(frozen=True, slots=True)
class Tile:
    """A host on the wall view. `short` is its name without the domain, where that is enough to tell it."""

    name: str
    short: str
    grade: Grade
    note: str


@dataclass(frozen=True, slots=True)
class Group:
    """Hosts that are shown together: what they share, how many there are of each grade, and the rows that are shown."""

    title: str
    grades: Mapping[Grade, int]
    rows: Sequence[Row]

    @property
    def total(self) -> int:
        """How many hosts it has."""
        return sum(self.grades.values())


@dataclass(frozen=True, slots=True)
class HostTable:
    """The table.

    `grades` counts all hosts, `total` those that were chosen, `more` of these are left out. `has_others`: some host is
    past a limit of a signal that is in no column. `level` is the highest water level of all cells, None if there is
    none. `pending` is the gravest of the rows. `tiles` are the chosen hosts.
    """

    columns: Sequence[Column]
    groups: Sequence[Group]
    grades: Mapping[Grade, int]
    total: int
    has_others: bool
    level: float | None
    pending: Severity
    more: int
    tiles: Sequence[Tile]

    @property
    def rows(self) -> list[Row]:
        """The rows of all groups."""
        return [row for group in self.groups for row in group.rows]


@dataclass(frozen=True)
class Hosts:
    """What is known of hosts: their state, the alerts that fire, what is judged, and labels by case-folded name."""

    health: Sequence[HostHealth]
    firing: Firing
    judged: JudgedHosts
    labels: Mapping[str, Mapping[str, str]] = field(default_factory=dict[str, Mapping[str, str]])


def host_table(hosts: Hosts, choice: Choice, catalogue: Catalogue) -> HostTable:
    """The table of the chosen hosts, the worst first; also of any that only an alert names."""
    named = {host_key(one.name): one for one in hosts.health}
    for host, fires in hosts.firing.of_host.items():
        if host and host not in named:
            named[host] = HostHealth(fires[0].worst.host, HostState.ALERT, "not on the roster")
    graded = _graded(hosts, named)
    grades = _counted(graded)
    chosen: list[tuple[HostKey, Grade]] = [
        (host, grade) for host, grade in graded if choice.takes(named[host].name, grade, hosts.labels.get(host, {}))
    ]
    signals = _signals([host for host, _ in chosen], hosts.judged, catalogue)
    causes = cache(partial(_cause, hosts.firing))
    grouped: dict[str, list[tuple[HostKey, Grade]]] = {}
    for host, grade in chosen:
        packs = hosts.judged.packs(host) if choice.group == "pack" else ()
        title = choice.group_of(named[host].name, hosts.labels.get(host, {}), packs)
        grouped.setdefault(title, []).append((host, grade))
    left, groups = choice.rows, list[Group]()
    for title, some in grouped.items():
        rows = [
            _row(named[host], causes(host), hosts.judged.cells(host), signals, grade) for host, grade in some[:left]
        ]
        left -= len(rows)
        groups.append(Group(title, _counted(some), rows))
    shown = [row for group in groups for row in group.rows]
    limits = [_limit(row.cells[at] for row in shown) for at in range(len(signals))]
    columns = [Column(one, catalogue.signals[one].title, of) for one, of in zip(signals, limits, strict=True)]
    return HostTable(
        columns=columns,
        groups=groups,
        grades=grades,
        total=len(chosen),
        has_others=any(row.others for row in shown),
        level=hosts.judged.level,
        pending=_gravest(row.pending for row in shown if row.grade == "pending"),
        more=len(chosen) - len(shown),
        tiles=_tiles([(named[host], grade, causes(host)) for host, grade in chosen]),
    )


def _tiles(chosen: Sequence[tuple[HostHealth, Grade, str]]) -> list[Tile]:
    first = Counter(one.name.partition(".")[0].casefold() for one, _, _ in chosen)
    found: list[Tile] = []
    for one, grade, why in chosen:
        short = one.name.partition(".")[0]
        enough = bool(short) and not short.isdecimal() and first[short.casefold()] == 1  # no address
        found.append(Tile(one.name, short if enough else one.name, grade, why or one.note))
    return found


def _counted(graded: Iterable[tuple[HostKey, Grade]]) -> Mapping[Grade, int]:
    """How many hosts there are of each grade, the worst first."""
    found = Counter[Grade](grade for _, grade in graded)
    return {grade: found[grade] for grade in _ORDER if found[grade]}


def _graded(hosts: Hosts, named: Mapping[HostKey, HostHealth]) -> list[tuple[HostKey, Grade]]:
    """Every host with its grade, the worst first."""
    found: list[tuple[HostKey, Grade]] = []
    for host, one in named.items():
        alerts = [alert for incident in hosts.firing.of_host.get(host, ()) for alert in incident.alerts]
        if any(alert.severity == "critical" and alert.kind != "host-silent" for alert in alerts):
            grade: Grade = "critical"
        elif any(alert.severity == "warning" for alert in alerts):
            grade = "warning"
        else:
            grade = _grade(one, is_pending=host in hosts.judged.pending)
        found.append((host, grade))
    return sorted(found, key=lambda one: (_ORDER.index(one[1]), one[0]))


def _cause(firing: Firing, host: HostKey) -> str:
    """What is wrong with a host, without its name: of several incidents the gravest. Empty if nothing is."""
    worst = (one.worst for one in firing.of_host.get(host, ()))
    alert = next((one for one in worst if one.host and one.kind != "host-silent"), None)
    if alert is None:
        return ""
    text = cause(alert).removeprefix(alert.host).removeprefix(":").strip()
    return text.replace(f" of {alert.host} ", " ")


def _signals(chosen: Sequence[HostKey], judged: JudgedHosts, catalogue: Catalogue) -> list[str]:
    """The signals of the columns: what is crossed, then what most hosts have and limits of today judge."""
    health = load_areas().health
    have, today = Counter[str](), set[str]()
    for ids, count in Counter(map(judged.rules, chosen)).items():
        rules = [catalogue.rules[one] for one in ids if one in catalogue.rules]
        have.update(dict.fromkeys({one.signal for one in rules}, count))
        today |= {one.signal for one in rules if one.severity != "info" and not (one.measured_on and one.where)}
    crossed = {signal for host in chosen for signal in judged.crossed.get(host, ())}
    limits = (catalogue.rules[rule].signal for group in health.limits for rule in group if rule in catalogue.rules)
    known = [one for one in dict.fromkeys([*health.hosts, *limits]) if one in have]
    few = max(have.values(), default=0) // 20

    def worth(signal: str) -> tuple[object, ...]:
        return signal not in crossed, have[signal] <= few, signal not in today, signal not in health.hosts

    best = sorted(known, key=worth)[:MOST_COLUMNS]
    return sorted((one for one in known if one in best), key=lambda one: one not in today)


def _row(host: HostHealth, why: str, own: Mapping[str, Cell], signals: Sequence[str], grade: Grade) -> Row:
    others = [cell for signal, cell in own.items() if signal not in signals and cell.standing in CROSSED]
    others.sort(key=lambda cell: cell.place)
    pending = sorted((cell for cell in own.values() if cell.standing == "pending"), key=lambda cell: cell.place)
    if grade == "pending" and pending:
        why = f"{listed([cell.title for cell in pending], 1)} crossed"
    return Row(
        name=host.name,
        grade=grade,
        note=why or host.note,
        newest=host.newest,
        cells=[own.get(signal) for signal in signals],
        others=others[:_MOST_OTHERS],
        more=len(others[_MOST_OTHERS:]),
        is_blank=grade == "silent" and not any(signal in own for signal in signals),
        pending=_gravest(cell.severity for cell in pending),
    )


def _gravest(severities: Iterable[Severity]) -> Severity:
    return "critical" if "critical" in severities else "warning"


def _grade(host: HostHealth, *, is_pending: bool) -> Grade:
    match host.state:
        case HostState.SILENT:
            return "silent"
        case HostState.NOT_JUDGED:
            return "not judged"
        case _:
            return "pending" if is_pending else "healthy"


def _limit(cells: Iterable[Cell | None]) -> str:
    limits = {(one.usual, one.unit) for one in cells if one and one.usual}
    shown = {shortly(healthy, unit) for healthy, unit in limits}
    return shown.pop() if len(shown) == 1 else ""
