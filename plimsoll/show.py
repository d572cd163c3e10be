"""What is in a log, for people and as JSON."""

from collections import defaultdict
from typing import Any

from rich.console import Console
from rich.markup import escape

from model.log import Log
from model.perfmon import CounterPath
from model.times import SECOND, Zone, iso, words
from review.numbers import number

_MOST_INSTANCES = 8


def show(log: Log, console: Console, zone: Zone) -> None:
    """Print what a log holds, objects with their counters and instances."""
    filled = len(log.times) > 0
    facts = [
        ("format", log.format),
        ("host", ", ".join(log.hosts)),
        ("zone", zone.label(int(log.times[0]) if filled else 0)),
        ("span", _span(log, zone) if filled else "no samples"),
        ("interval", words(log.interval) if log.interval else "not known"),
        (
            "size",
            f"{len(log.times):,} rows × {len(log.series):,} counters: {log.present:,} values, {log.missing:,} missing",
        ),
    ]
    console.print(f"[bold]{escape(str(log.path))}[/]", soft_wrap=True, highlight=False)
    for name, value in facts:
        console.print(f"  {name:<9} {escape(value)}", soft_wrap=True, highlight=False)
    for object_, (counters, instances) in sorted(objects(log).items()):
        shown = ", ".join(list(instances)[:_MOST_INSTANCES])
        more = f" and {number(len(instances) - _MOST_INSTANCES)} more" if len(instances) > _MOST_INSTANCES else ""
        console.print(
            f"  [bold]{escape(object_)}[/]" + (f" ({escape(shown)}{more})" if instances else ""),
            soft_wrap=True,
            highlight=False,
        )
        console.print(f"    [dim]{escape(', '.join(counters))}[/]", soft_wrap=True, highlight=False)


def _span(log: Log, zone: Zone) -> str:
    first, last = int(log.times[0]), int(log.times[-1])
    return f"{zone.span(first, last)} ({words(last - first)})"


def objects(log: Log) -> dict[str, tuple[dict[str, None], dict[str, None]]]:
    """For each object its counters and its instances, in the order of the columns."""
    found: dict[str, tuple[dict[str, None], dict[str, None]]] = defaultdict(lambda: ({}, {}))
    for series in log.series:
        path = CounterPath.parse(series.path)
        counters, instances = found[path.object]
        counters[path.counter] = None
        if path.instance is not None:
            instances[path.instance] = None
    return found


def as_json(log: Log) -> dict[str, Any]:
    """What a log holds, for other programs: schema plimsoll.log/1."""
    filled = len(log.times) > 0
    return {
        "schema": "plimsoll.log/1",
        "path": str(log.path),
        "format": log.format,
        "hosts": list(log.hosts),
        "zone": log.zone.label(int(log.times[0]) if filled else 0) if log.zone.known else None,
        "start": iso(int(log.times[0])) if filled else None,
        "end": iso(int(log.times[-1])) if filled else None,
        "interval_s": log.interval / SECOND if log.interval else None,
        "samples": len(log.times),
        "series": len(log.series),
        "values": log.present,
        "missing": log.missing,
        "objects": [
            {"object": name, "counters": list(counters), "instances": list(instances)}
            for name, (counters, instances) in sorted(objects(log).items())
        ],
        "remarks": [
            {
                "kind": r.kind.value,
                "text": r.text,
                "file": r.file,
                "line": r.line,
                "counter": r.counter,
                "count": r.count,
            }
            for r in log.remarks
        ],
    }
