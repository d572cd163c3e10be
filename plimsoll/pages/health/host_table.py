"""The table of hosts by signals on the health page: its columns, and its rows with the worst first."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from plimsoll.alerting.book.record import Alert
from plimsoll.alerting.health import HostHealth, HostState
from plimsoll.dashboards.areas import load_areas
from plimsoll.dashboards.limits import shortly
from plimsoll.model.host_key import host_key
from plimsoll.pages.health.host_cells import CROSSED, Cell, Cells
from plimsoll.rules.load import Catalogue
from plimsoll.rules.schema.field_types import Severity

MOST_COLUMNS = 8
MOST_ROWS = 300
_MOST_OTHERS = 3

Grade = Literal["critical", "warning", "silent", "not judged", "pending", "healthy"]
_ORDER: tuple[Grade, ...] = ("critical", "warning", "silent", "not judged", "pending", "healthy")


@dataclass(frozen=True, slots=True)
class Column:
    """A signal, and its limit if that is the same for all hosts."""

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
class HostTable:
    """The table.

    `has_others`: some host is past a limit of a signal that is in no column. `level` is the highest water level of all
    cells, None if there is none. `pending` is the gravest of the rows. `more` hosts, the best ones, are left out.
    """

    columns: Sequence[Column]
    rows: Sequence[Row]
    has_others: bool
    level: float | None
    pending: Severity
    more: int = 0


def host_table(hosts: Sequence[HostHealth], alerts: Collection[Alert], cells: Cells, catalogue: Catalogue) -> HostTable:
    """The table of these hosts, and of any other that an alert names."""
    named = {host_key(one.name): one for one in hosts}
    for one in alerts:
        if one.host and host_key(one.host) not in named:
            named[host_key(one.host)] = HostHealth(one.host, HostState.ALERT, "not on the roster")
    signals = _signals([cell for host in named for cell in cells.get(host, {}).values()], catalogue)
    critical = {host_key(one.host) for one in alerts if one.severity == "critical" and one.kind != "host-silent"}
    warning = {host_key(one.host) for one in alerts if one.severity == "warning"}
    rows: list[Row] = []
    for host, one in named.items():
        own = cells.get(host, {})
        grade: Grade = "critical" if host in critical else "warning" if host in warning else _grade(one, own.values())
        rows.append(_row(one, own, signals, grade))
    rows.sort(key=lambda row: (_ORDER.index(row.grade), row.name.casefold()))
    more, rows = len(rows[MOST_ROWS:]), rows[:MOST_ROWS]
    columns = [Column(one, catalogue.signals[one].title, _limit(one, cells)) for one in signals]
    levels = [one.level for row in rows for one in (*row.cells, *row.others) if one and one.level is not None]
    pending = _gravest(row.pending for row in rows if row.grade == "pending")
    return HostTable(columns, rows, any(row.others for row in rows), max(levels, default=None), pending, more)


def _signals(cells: Iterable[Cell], catalogue: Catalogue) -> list[str]:
    """The signals of the columns: of those in areas.yaml its own, then those that are crossed, then the first."""
    health = load_areas().health
    found: dict[str, bool] = {}
    for one in cells:
        found[one.signal] = found.get(one.signal, False) or one.standing in CROSSED
    limits = (catalogue.rules[rule].signal for group in health.limits for rule in group if rule in catalogue.rules)
    known = [one for one in dict.fromkeys([*health.hosts, *limits]) if one in found]
    chosen = sorted(known, key=lambda one: (one not in health.hosts, not found[one]))[:MOST_COLUMNS]
    return [one for one in known if one in chosen]


def _row(host: HostHealth, own: Mapping[str, Cell], signals: Sequence[str], grade: Grade) -> Row:
    others = [cell for signal, cell in own.items() if signal not in signals and cell.standing in CROSSED]
    others.sort(key=lambda cell: cell.place)
    return Row(
        name=host.name,
        grade=grade,
        note=host.note,
        newest=host.newest,
        cells=[own.get(signal) for signal in signals],
        others=others[:_MOST_OTHERS],
        more=len(others[_MOST_OTHERS:]),
        is_blank=grade == "silent" and not any(signal in own for signal in signals),
        pending=_gravest(cell.severity for cell in own.values() if cell.standing == "pending"),
    )


def _gravest(severities: Iterable[Severity]) -> Severity:
    return "critical" if "critical" in severities else "warning"


def _grade(host: HostHealth, cells: Iterable[Cell]) -> Grade:
    match host.state:
        case HostState.SILENT:
            return "silent"
        case HostState.NOT_JUDGED:
            return "not judged"
        case _:
            return "pending" if any(one.standing == "pending" for one in cells) else "healthy"


def _limit(signal: str, cells: Cells) -> str:
    limits = {(one.usual, one.unit) for own in cells.values() if (one := own.get(signal)) and one.usual}
    shown = {shortly(healthy, unit) for healthy, unit in limits}
    return shown.pop() if len(shown) == 1 else ""
