"""`plimsoll show`: the content of a log, as text or as JSON (schema plimsoll.log/1, docs/formats.md)."""

import json as json_module
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from plimsoll.api.inputs import read
from plimsoll.cli import args
from plimsoll.cli.console import print_line, print_remarks
from plimsoll.cli.long_work import show_progress
from plimsoll.cli.outputs import STDOUT, refuse_overwriting, write_json
from plimsoll.model.counter_names.unrecognised import find_unknown_counters, find_unrecognised
from plimsoll.model.errors import Unusable
from plimsoll.model.group_pairs import group_pairs
from plimsoll.model.log import CounterFacts, Log
from plimsoll.model.parameters import Parameter
from plimsoll.model.perfmon import CounterPath, split_object
from plimsoll.model.remark import Remark, format_count
from plimsoll.model.series import Series
from plimsoll.model.times import SECOND, Zone, format_duration, format_iso

_MOST_SHOWN = 12
_MOST_SPANS = 5
app = args.make_command_app()


@app.command(
    "show", epilog=args.format_examples("plimsoll show perfmon.blg", "plimsoll show logs/ --json contents.json")
)
def show(
    logs: args.LogArgument,
    zone: args.ZoneOption = None,
    format_: args.FormatOption = None,
    encoding: args.EncodingOption = None,
    names: args.NamesOption = None,
    from_: args.FromOption = None,
    to: args.ToOption = None,
    last: args.LastOption = None,
    host: args.HostOption = None,
    match: args.MatchOption = None,
    store: args.StoreOption = None,
    json: args.JsonOption = None,
) -> None:
    """Show what is in a log: host, time zone, interval, span, counters, remarks.

    --from, --to and --last are only for live:HOST and servers.
    """
    inputs = args.parse_inputs(logs, zone, format_, encoding, names, store, (from_, to, last), (host, match))
    if not inputs.is_part and inputs.when:
        raise Unusable(
            f"--from, --to and --last are for live:HOST and servers; {inputs.sources[0]} is shown as a whole"
        )
    with show_progress("Reading", inputs) as counted:
        contents = read(counted)
    remarks = contents.remarks
    refuse_overwriting(contents.logs, json, also_read=inputs.names)
    if json is not None:
        # Remarks on all logs together go into the first document.
        documents = [encode_log(log, () if number else remarks) for number, log in enumerate(contents.logs)]
        write_json(json, json_module.dumps(documents, ensure_ascii=False, indent=2))
    if json != STDOUT:
        for log in contents.logs:
            _print_log(log, inputs.requested_zone or log.zone)
    print_remarks([*(remark for log in contents.logs for remark in log.remarks), *remarks])


def _print_log(log: Log, zone: Zone) -> None:
    """Print a log's content: format, host and times, then the objects with their counters and instances."""
    print_line((str(log.path), "bold"))
    size = f"{format_count(len(log.times), 'row')} × {format_count(len(log.series), 'counter')}"
    gaps = [f"{zone.span(start, end)} ({format_duration(end - start)})" for start, end in log.gaps]
    span = "no samples"
    if len(log.times):
        first, last = int(log.times[0]), int(log.times[-1])
        span = f"{zone.span(first, last)} ({format_duration(last - first)})"
    changes = [
        f"{format_duration(interval)} {zone.span(start, end)}" for start, end, interval, *_ in log.other_intervals
    ]
    facts = [
        ("format", log.format),
        ("host", ", ".join(log.hosts)),
        ("zone", zone.label(int(log.times[0]) if len(log.times) else 0)),
        ("span", span),
        (
            "interval",
            "; ".join([format_duration(log.interval), *_list_first(changes)]) if log.interval else "not known",
        ),
        ("gaps", ("; ".join(_list_first(gaps)) or "none")),
        ("size", f"{size}: {format_count(log.present, 'value')}, {log.missing:,} missing"),
    ]
    for name, value in facts:
        print_line(f"  {name:<9} {value}", indent=12)
    for name, content in sorted(group_by_object(log).items()):
        inside = f" ({_shorten_names(_group_families(content.instances))})" if content.instances else ""
        print_line("  ", (name, "bold"), inside, indent=6)
        counters = [
            f"{counter} ({content.types[counter]})" if counter in content.types else counter
            for counter in content.counters
        ]
        print_line((f"    {_shorten_names(counters)}", "dim"), indent=4)
        for line in _list_interrupted_instances(log, content, zone):
            print_line(f"    {line}", indent=6)
    strange = list_unrecognised_names(log)
    _print_by_object("not known", "under {names} that Plimsoll does not know; see " + Parameter.NAMES, strange)
    _print_by_object(
        "no signal",
        "that no rule can judge yet; plimsoll rules new FILE --from LOG writes a pack",
        list_counters_without_signal(log, strange),
    )


def _print_by_object(title: str, text: str, counters_by_object: dict[str, list[str]]) -> None:
    """Print how many counters `title` and `text` describe, and their names by object; nothing without counters."""
    if not counters_by_object:
        return
    count = sum(map(len, counters_by_object.values()))
    names = "a name" if count == 1 else "names"
    print_line(f"  {title:<9} {format_count(count, 'counter')} {text.format(names=names)}", indent=12)
    for name, counters in counters_by_object.items():
        print_line("    ", (name, "bold"), ": ", (_shorten_names(counters), "dim"), indent=6)


def _list_first(texts: list[str]) -> list[str]:
    hidden = len(texts) - _MOST_SPANS
    return [*texts[:_MOST_SPANS], f"{hidden} more"] if hidden > 0 else texts


def _group_families(instances: dict[str, None]) -> list[str]:
    """Return instances in natural order; names that differ only in the last number are joined: `svchost × 58`."""

    def numbers_and_texts(instance: str) -> list[tuple[int, str]]:
        return [(int(part), "") if part.isdecimal() else (-1, part.casefold()) for part in re.split(r"(\d+)", instance)]

    families: dict[str, list[str]] = {}
    for instance in sorted(instances, key=numbers_and_texts):
        stem = "pid_…" if instance.startswith("pid_") else re.sub(r"^\d+$|#\d+$", "", instance)
        families.setdefault(stem, []).append(instance)
    return [
        members[0] if len(members) == 1 else f"{stem} × {len(members)}" if stem else f"{members[0]}–{members[-1]}"
        for stem, members in families.items()
    ]


def _list_interrupted_instances(log: Log, content: "Content", zone: Zone) -> list[str]:
    """Return a line for each instance that some samples lack: the count of samples with it, its first and last time.

    Instances in the most samples come first; beyond some lines, the rest is only counted.
    """
    partly = [(name, life) for name, life in content.lives.items() if life.samples < len(log.times)]
    partly.sort(key=lambda pair: -pair[1].samples)
    of = f"of {format_count(len(log.times), 'sample')}"
    lines: list[str] = []
    for name, life in partly[:_MOST_SHOWN]:
        several_days = zone.local(life.first).date() != zone.local(life.last).date()
        start, end = (zone.clock(at, date=several_days) for at in (life.first, life.last))
        lines.append(f"{name}: {life.samples:,} {of}, {start}–{end}")
    hidden = len(partly) - _MOST_SHOWN
    rest = (
        [f"and {format_count(hidden, 'more instance')} that came or went (all of them: --json)"] if hidden > 0 else []
    )
    return lines + rest


def _shorten_names(names: list[str]) -> str:
    text = f" and {len(names) - _MOST_SHOWN:,} more" if len(names) > _MOST_SHOWN else ""
    return ", ".join(names[:_MOST_SHOWN]) + text


@dataclass
class Content:
    """The recorded counters and instances of an object such as `Process`, in the order of the log's columns.

    `types` are the types by counter, `lives` the lifetimes by instance; both are empty if the log's format lacks them.
    If the log has several hosts, the instances in `lives` are named with their host.
    """

    counters: dict[str, None] = field(default_factory=dict)
    instances: dict[str, None] = field(default_factory=dict)
    types: dict[str, str] = field(default_factory=dict)
    lives: dict[str, CounterFacts] = field(default_factory=dict)

    def as_json(self, name: str) -> dict[str, Any]:
        """Return this content as an element of `objects` in plimsoll.log/1; `name` is the object's name."""
        document: dict[str, Any] = {"object": name, "counters": list(self.counters), "instances": list(self.instances)}
        if self.types:
            document["types"] = self.types
            document["lives"] = {
                instance: {"samples": life.samples, "start": format_iso(life.first), "end": format_iso(life.last)}
                for instance, life in self.lives.items()
            }
        return document


def group_by_object(log: Log) -> dict[str, Content]:
    """Return the content of each object in a log; in a log without objects, of each measurement."""
    contents: dict[str, Content] = defaultdict(Content)
    for series in log.series:
        object_, counter, instance = _split_series(series)
        contents[object_].counters[counter] = None
        if instance is not None:
            contents[object_].instances[instance] = None
        if facts := log.facts.get(series.key):
            contents[object_].types[counter] = facts.type
            if instance is not None:
                name = instance if len(log.hosts) == 1 else f"{instance} on {series.host}"
                contents[object_].lives.setdefault(name, facts)
    return contents


def list_unrecognised_names(log: Log) -> dict[str, list[str]]:
    """Return the counters with unknown names that rules may need, by object, as a review reports them."""
    by_object: dict[str, dict[str, None]] = {}
    for unrecognised_object in find_unrecognised(log.series):
        by_object.setdefault(unrecognised_object.object, {}).update(dict.fromkeys(unrecognised_object.names))
    return {name: list(counters) for name, counters in sorted(by_object.items())}


def list_counters_without_signal(log: Log, strange: dict[str, list[str]]) -> dict[str, list[str]]:
    """Return the Windows counters that no shipped signal reads, by object, except those in `strange`."""
    named = {(split_object(name)[0], counter) for name, counters in strange.items() for counter in counters}
    return group_pairs(
        (unknown_counter.object, unknown_counter.counter)
        for unknown_counter in find_unknown_counters(log.series)
        if (unknown_counter.object, unknown_counter.counter) not in named
    )


def _split_series(series: Series) -> tuple[str, str, str | None]:
    if not series.path.startswith("\\"):
        return series.measurement, series.field, next((value for _, value in series.tags), None)
    path = CounterPath.parse(f"\\\\{series.host}{series.path}")
    return path.object, path.counter, path.instance


def encode_log(log: Log, remarks: Sequence[Remark] = ()) -> dict[str, Any]:
    """Return a log's content as a document of schema plimsoll.log/1; `remarks` are added to the remarks on the log."""
    filled = len(log.times) > 0
    strange = list_unrecognised_names(log)
    return {
        "schema": "plimsoll.log/1",
        "path": str(log.path),
        "format": log.format,
        "hosts": list(log.hosts),
        "zone": log.zone.label(int(log.times[0]) if filled else 0) if log.zone.is_specified else None,
        "start": format_iso(int(log.times[0])) if filled else None,
        "end": format_iso(int(log.times[-1])) if filled else None,
        "interval_s": log.interval / SECOND if log.interval else None,
        "other_intervals": [
            {"start": format_iso(start), "end": format_iso(end), "interval_s": interval / SECOND}
            for start, end, interval, *_ in log.other_intervals
        ],
        "gaps": [{"start": format_iso(start), "end": format_iso(end)} for start, end in log.gaps],
        "samples": len(log.times),
        "series": len(log.series),
        "values": log.present,
        "missing": log.missing,
        "objects": [content.as_json(name) for name, content in sorted(group_by_object(log).items())],
        "not_known": [{"object": name, "counters": names} for name, names in strange.items()],
        "without_signal": [
            {"object": name, "counters": names} for name, names in list_counters_without_signal(log, strange).items()
        ],
        "remarks": [asdict(remark) for remark in (*log.remarks, *remarks)],
    }
