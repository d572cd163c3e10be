"""PromQL selectors of the series that a source of a signal becomes, and texts in PromQL.

VictoriaMetrics names a series that comes in InfluxDB's line protocol by its measurement and field, joined by `_`, and
its tags become labels. Telegraf's output `prometheus_client` gives the same names, with `_` for every character that
Prometheus did not allow in them until version 3.
"""

import re

from plimsoll.export.grafana.selections import OBJECT, POLLED, Selection
from plimsoll.model.perfmon import SQL_DEFAULT, TOTAL
from plimsoll.model.times import SECOND
from plimsoll.rules.exporters.telegraf_names import metric_names
from plimsoll.rules.schema.signal import Source
from plimsoll.store.influx.quoting import literal

_PLAIN = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")
_MILLISECOND = SECOND // 1000
_TOTAL = TOTAL.casefold()
_TOTALS = rf"(?i)((.*,)|(.*{_TOTAL}/))?{_TOTAL}|cpu-total|all"  # the same as subjects.is_total
_SQL_OBJECT = f"{SQL_DEFAULT}:"


def text(value: str) -> str:
    """A string of PromQL."""
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def number(value: float) -> str:
    """A number of PromQL: `0.001`, `1e+15`."""
    return f"{value:.15g}"


def duration(length: int) -> str:
    """A duration of PromQL from ns, to the millisecond: `10m`, `9m50s1ms`."""
    if length <= 0 or length % _MILLISECOND:
        raise ValueError(f"{length} ns is no duration of PromQL, which counts milliseconds")
    rest, parts = length // _MILLISECOND, ""
    for unit, size in (("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1)):
        count, rest = divmod(rest, size)
        parts += f"{count}{unit}" if count else ""
    return parts


def window(length: int) -> str:
    """The range of a window of which both ends belong to it (ns). A range of PromQL is open at its beginning."""
    return duration(length + _MILLISECOND)


def selector(selection: Selection, field: str, whom: tuple[str, ...] = ()) -> str:
    """The selector of one field of a selection: `cpu_usage_idle{cpu="cpu-total"}`. `whom` are further matchers."""
    names = metric_names(selection.measurement, field)
    matchers = [*_matchers(selection), *whom]
    if len(names) == 1 and _PLAIN.fullmatch(names[0]):
        return names[0] + ("{" + ", ".join(matchers) + "}" if matchers else "")
    named = f"__name__=~{text('|'.join(literal(name) for name in names))}"
    return "{" + ", ".join([named, *matchers]) + "}"


def of_host(selection: Selection, host: str, instance: str | None = None, *, other: bool = False) -> str:
    """The matcher for a host, or for one instance of any; with `other` for all but it.

    A host is named with or without its domain. A Windows counter belongs to the computer it was read from.
    """
    sign = "!~" if other else "=~"
    if instance is not None:
        return f"{selection.instance}{sign}{text(f'(?i){literal(instance)}')}"
    tag = POLLED if POLLED in selection.group else selection.host
    short, domain, _ = host.partition(".")
    names = f"{literal(host)}|{literal(short)}" if domain else rf"{literal(host)}(\..*)?"
    return f"{tag}{sign}{text(f'(?i){names}')}"


def _matchers(selection: Selection) -> list[str]:
    source, found = selection.source, list[str]()
    if source.path:
        found.append(_is(OBJECT, source.path.object))
    else:
        found += [_is(tag, value) for tag, value in source.tags.items()]
    instance = selection.instance or selection.summed
    if instance:
        found += _no_totals(instance, source)
    elif source.path and (source.path.instance is not None or _is_alone(selection)):
        found.append(f"instance={text(source.path.instance or '')}")
    return found


def _is_alone(selection: Selection) -> bool:
    """Whether the selection is for the series without an instance only: its object has some with one, too."""
    return any(one.startswith('"instance" = ') for one in selection.where)


def _is(tag: str, value: str) -> str:
    """The matcher for a tag. An object of SQL Server matches that of every instance of the server."""
    if tag in ("object", OBJECT) and value.startswith(_SQL_OBJECT):
        pattern = rf"({SQL_DEFAULT}|MSSQL\$[^:]+):{literal(value.removeprefix(_SQL_OBJECT))}"
        return f"{tag}=~{text(pattern)}"
    return f"{tag}={text(value)}"


def _no_totals(tag: str, source: Source) -> list[str]:
    found = [f'{tag}!=""', f"{tag}!~{text(_TOTALS)}"]
    if source.but:
        named = "|".join(".*".join(map(literal, one.split("*"))) for one in source.but)
        found.append(f"{tag}!~{text(f'(?i){named}')}")
    return found
