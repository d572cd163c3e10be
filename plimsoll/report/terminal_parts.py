"""Parts of lines and tables that the first screen of a review on a terminal and its details share."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from plimsoll.model.remark import counted, listed, short
from plimsoll.model.styled import Line, Part, cells, in_columns
from plimsoll.model.value_text import quantity
from plimsoll.report.wording import extreme, host_of, margin, threshold
from plimsoll.review.findings import Finding, Outcome
from plimsoll.review.groups import Group
from plimsoll.review.ranking import nearness
from plimsoll.review.sentences import place, worst_crossed, worst_shown, worst_text
from plimsoll.rules.severity import COLOURS, MARKS

UNJUDGED = (
    (Outcome.NO_DATA, "No data"),
    (Outcome.NOT_JUDGED, "Not judged"),
    (Outcome.NOT_RECORDED, "Not recorded in these logs"),
    (Outcome.OFF, "Switched off in plimsoll.toml"),
)
_PLACE_WIDTH = 36
_SHORT_PLACE = 20
_ALL = 9  # columns, and more than any row has


def title(text: str) -> Iterator[Line]:
    """A heading, after an empty line."""
    yield ()
    yield ((text, "bold"),)


def dim(text: str) -> Part:
    """A text of less weight."""
    return text, "dim"


def head(group: Group) -> Line:
    """What was crossed, where, and by how much."""
    colour, mark, worst = COLOURS[group.severity], MARKS[group.severity], group.worst
    where = place(worst)
    if len(group.hosts) > 1:
        where = f"{group.on_hosts}, worst {where}"
    elif (instances := group.instances_on(host_of(worst))) > 1:
        where = f"{where} (worst of {instances:,})"
    return (
        (f"{mark} {group.severity}", colour),
        "  ",
        (f"{worst.signal.title} · {where}", "bold"),
        f"  {worst_text(worst, worst_crossed(worst))}, limit {threshold(worst)}",
    )


def by_signal(found: Iterable[Finding]) -> list[list[Finding]]:
    """The findings of each signal, nearest to its limit first."""
    groups: dict[str, list[Finding]] = {}
    for finding in sorted(found, key=nearness):
        groups.setdefault(finding.rule.signal, []).append(finding)
    return list(groups.values())


def rows(groups: Sequence[Sequence[Finding]], width: int) -> list[Line]:
    """A row for each signal: the rule and subject that came nearest. Columns are left out until rows fit the width."""
    fitting: list[str] = []
    for layout in _LAYOUTS:
        fitting = in_columns([layout(_row(group)) for group in groups], None, left=_ALL)
        if all(cells(row) <= width for row in fitting):
            break
    return [(row,) for row in fitting]


@dataclass(frozen=True)
class _Row:
    title: str
    place: str
    worst_of: int
    value: str
    how: str
    limit: str
    more_limits: int
    margin: str


_LAYOUTS: tuple[Callable[[_Row], tuple[str, ...]], ...] = (
    lambda one: (one.title, _placed(one, _PLACE_WIDTH), f"{one.how} {one.value}", _limits(one), one.margin),
    lambda one: (one.title, _placed(one, _PLACE_WIDTH), one.value, one.limit, one.margin),
    lambda one: (one.title, short(one.place, _SHORT_PLACE), one.value, one.limit, one.margin),
    lambda one: (one.title, one.value, one.limit, one.margin),
    lambda one: (one.title, one.value, one.limit),
)


def _placed(one: _Row, width: int) -> str:
    return short(one.place, width) + (f" (worst of {one.worst_of:,})" if one.worst_of > 1 else "")


def _limits(one: _Row) -> str:
    return one.limit + (f" (and {counted(one.more_limits, 'more limit')})" if one.more_limits else "")


def _row(alike: Sequence[Finding]) -> _Row:
    nearest = alike[0]
    return _Row(
        nearest.signal.title,
        place(nearest),
        len({one.subject.key for one in alike if one.subject}),
        quantity(worst_shown(nearest), nearest.signal.unit),
        extreme(nearest),
        threshold(nearest),
        len({one.rule.id for one in alike}) - 1,
        margin(nearest) + ("" if nearest.severe else "  info"),
    )


def unjudged_titles(found: Iterable[Finding], hosts: int) -> Iterator[str]:
    """The signals, with their hosts unless they are all hosts of the run."""
    where: dict[str, dict[str, None]] = {}
    for one in found:
        where.setdefault(one.signal.title, {})[host_of(one)] = None
    for title, names in where.items():
        yield f"{title} ({listed(list(names), 3)})" if len(names) < hosts else title
