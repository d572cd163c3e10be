"""Merges the queries of a panel for all sources of a signal into one, so that Grafana asks once.

Subqueries select a value for each interval. These are few, so that merging them takes InfluxDB little time.
"""

from collections.abc import Callable, Sequence

from plimsoll.export.grafana.influxql import TIME, by_interval, by_tags
from plimsoll.export.selections import Selection, Variant
from plimsoll.rules.fields import OPERATORS

_VALUE = '"value"'
Parts = tuple[str, str]  # what a query selects, and the rest of it
Ask = Callable[[Selection], Parts]


def mergeable(way: Variant) -> bool:
    """Whether InfluxDB can compute a variant.

    It combines only values with the same tags and of one measurement. A division by 0 is 0, so ratios are not computed;
    nor are products, which are no chain of one operator.
    """
    alike = {(one.measurement, one.group) for one in way.selections}
    return way.operation not in ("ratio", "product") and len(alike) == 1


def merged_query(ways: Sequence[Variant], ask: Ask, value: str = "{}") -> str:
    """Return the query for a signal: for each subject and interval, the value of the first variant that has one.

    Subjects have a series for each measurement that they are in. `value` is the expression to select, in which `{}` is
    the value of the signal.
    """
    selected, rest = _merged(ways, ask)
    return f"SELECT {selected if value == '{}' else value.format(f'({selected})')}{rest}"


def layers(ways: Sequence[Variant]) -> list[list[Variant]]:
    """Return the variants in groups of which each can be merged.

    InfluxDB never merges values of different measurements, so a group has one measurement of each collector: the first
    group the best ones, and so on.
    """
    found: list[list[Variant]] = []
    known: dict[str | None, list[tuple[str, ...]]] = {}
    for way in ways:
        measurements = tuple(one.measurement for one in way.selections)
        own = known.setdefault(way.selections[0].collector, [])
        if measurements not in own:
            own.append(measurements)
        at = own.index(measurements)
        if at == len(found):
            found.append([])
        found[at].append(way)
    return found


def tags_of(ways: Sequence[Variant]) -> tuple[str, ...]:
    """Return the tags of the values of all variants."""
    return tuple(dict.fromkeys(tag for way in ways for one in way.selections for tag in one.group))


def _merged(ways: Sequence[Variant], ask: Ask) -> Parts:
    group, operation = tags_of(ways), ways[0].operation
    if operation is None:
        return _best([ask(way.selections[0]) for way in ways], group)
    found = [[ask(one) for one in way.selections] for way in ways]
    sign = f" {OPERATORS[operation]} "
    if all(len({rest for _, rest in parts}) == 1 for parts in found):
        return _best([(f"({sign.join(value for value, _ in parts)})", parts[0][1]) for parts in found], group)
    asked, operands = list[str](), list[str]()
    for at, parts in enumerate(zip(*found, strict=True)):
        value, rest = _best(list(dict.fromkeys(parts)), group)
        asked.append(f'(SELECT {value} AS "operand{at}"{rest})')
        operands.append(f'max("operand{at}")')
    return f"({sign.join(operands)})", f" FROM {', '.join(asked)} WHERE {TIME}{by_interval(group)}"


def _best(found: Sequence[Parts], group: Sequence[str]) -> Parts:
    """Return the parts of a query for the values of the first of several queries that has one."""
    if len(found) == 1:
        return found[0]
    ranked = [
        f'(SELECT {value} AS {_VALUE}, ({value}) * 0 - {at} AS "rank"{rest})' for at, (value, rest) in enumerate(found)
    ]
    # The selector max returns the point with the highest rank.
    inner = f'(SELECT max("rank"), {_VALUE} FROM {", ".join(ranked)} WHERE {TIME}{by_interval(group)})'
    return _VALUE, f" FROM {inner} WHERE {TIME}{by_tags(group)}"
