"""PromQL selectors of the series that a source of a signal becomes, and texts in PromQL.

VictoriaMetrics names a series that comes in InfluxDB's line protocol by its measurement and field, joined by `_`, and
its tags become labels. Telegraf's output `prometheus_client` gives the same names, with `_` for every character that
Prometheus did not allow in them until version 3.
"""

import re
from collections.abc import Sequence

from plimsoll.export.selections import OBJECT, POLLED, Selection
from plimsoll.model.perfmon import SQL_DEFAULT, TOTAL
from plimsoll.model.times import SECOND
from plimsoll.rules.exporters.schema import metric_names
from plimsoll.store.influx.quoting import literal

PLAIN_NAME = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")
MILLISECOND = SECOND // 1000
_TOTAL = TOTAL.casefold()
_TOTALS = rf"(?i)((.*,)|(.*{_TOTAL}/))?{_TOTAL}|cpu-total|all"  # the same as subjects.is_total
_SQL_OBJECT = f"{SQL_DEFAULT}:"


def text(value: str) -> str:
    """Return a string of PromQL."""
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def number(value: float) -> str:
    """Return a number of PromQL: `0.001`, `1e+15`."""
    return f"{value:.15g}"


def duration(length: int) -> str:
    """Return a duration of PromQL from ns, to the millisecond: `10m`, `9m50s1ms`."""
    if length <= 0 or length % MILLISECOND:
        raise ValueError(f"{length} ns is no duration of PromQL, which counts milliseconds")
    rest, parts = length // MILLISECOND, ""
    for unit, size in (("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1)):
        count, rest = divmod(rest, size)
        parts += f"{count}{unit}" if count else ""
    return parts


def window(length: int) -> str:
    """Return the range of a window (ns) that includes both ends. A range of PromQL is open at its beginning."""
    return duration(length + MILLISECOND)


def selector(selection: Selection, field: str, matchers: Sequence[str] = ()) -> str:
    """Return the selector of one field of a selection, with further matchers: `cpu_usage_idle{cpu="cpu-total"}`."""
    names = metric_names(selection.measurement, field)
    matchers = [*_source_matchers(selection), *matchers]
    if len(names) == 1 and PLAIN_NAME.fullmatch(names[0]):
        return names[0] + ("{" + ", ".join(matchers) + "}" if matchers else "")
    named = f"__name__=~{text('|'.join(literal(name) for name in names))}"
    return "{" + ", ".join([named, *matchers]) + "}"


def host_matcher(selection: Selection, host: str, instance: str | None = None, *, other: bool = False) -> str:
    """Return the matcher for a host, or for one instance of any; with `other` for all but it.

    A host is named with or without its domain. A Windows counter belongs to the computer it was read from.
    """
    sign = "!~" if other else "=~"
    if instance is not None:
        return f"{selection.instance}{sign}{text(f'(?i){literal(instance)}')}"
    tag = POLLED if POLLED in selection.group else selection.host
    short, domain, _ = host.partition(".")
    names = f"{literal(host)}|{literal(short)}" if domain else rf"{literal(host)}(\..*)?"
    return f"{tag}{sign}{text(f'(?i){names}')}"


def _source_matchers(selection: Selection) -> list[str]:
    source, matchers = selection.source, list[str]()
    if source.path:
        matchers.append(_tag_matcher(OBJECT, source.path.object))
    else:
        matchers += [_tag_matcher(tag, value) for tag, value in source.tags.items()]
    if instance := selection.instance or selection.summed:
        matchers += [f'{instance}!=""', f"{instance}!~{text(_TOTALS)}"]
        if source.but:
            named = "|".join(".*".join(map(literal, pattern.split("*"))) for pattern in source.but)
            matchers.append(f"{instance}!~{text(f'(?i){named}')}")
    elif source.path:
        # Without an instance also where the object has other series with one.
        alone = any(condition.startswith('"instance" = ') for condition in selection.where)
        if source.path.instance is not None or alone:
            matchers.append(f"instance={text(source.path.instance or '')}")
    return matchers


def _tag_matcher(tag: str, value: str) -> str:
    """Return the matcher for a tag. An object of SQL Server matches that of every instance of the server."""
    if tag in ("object", OBJECT) and value.startswith(_SQL_OBJECT):
        pattern = rf"({SQL_DEFAULT}|MSSQL\$[^:]+):{literal(value.removeprefix(_SQL_OBJECT))}"
        return f"{tag}=~{text(pattern)}"
    return f"{tag}={text(value)}"
