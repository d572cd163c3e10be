"""Writes counters as Telegraf inputs for Windows: one `win_perf_counters` plugin per object.

An error in one counter stops the collection of its plugin, so objects do not share a plugin.
"""

import json
import re
import textwrap
from collections.abc import Sequence

from plimsoll.export.counters.counter_list import CounterList, is_everywhere, is_transient
from plimsoll.model.names import find_measurement
from plimsoll.model.perfmon import EACH_INSTANCE, SQL_DEFAULT, SQL_NAMED, TOTAL, CounterPath
from plimsoll.model.times import SECOND

_NO_INSTANCE = "------"
_WIDTH = 120
_OPTIONS = """\
# Each object has its own plugin, because an error in one counter ends the collection of the whole plugin. The options:
# - UseWildcardsExpansion: otherwise the #1 of a second instance with the same name is dropped, and the two are merged.
# - LocalizeWildcardsExpansion = false: otherwise a German Windows sends German names.
# - IncludeTotal: otherwise * leaves _Total out.
# - IgnoredErrors: a plugin reports PDH_NO_DATA if the host has none of its counters.
# - CountersRefreshInterval: how often new instances are looked for; the rates just after it cover 1 s, not the whole
#   interval. It is shorter for services that may start later, and for instances that come and go.
# - log_level = "error": an instance that has gone is no warning.
# A counter or object that the host does not have is skipped without a message, and looked for again later.
"""


def format_inputs(counters: CounterList, interval: int | None = None) -> str:
    """Return the Telegraf inputs for these counters, to be added to a configuration that has an agent and an output.

    `interval` (ns) is the time between samples; None means the agent's interval.
    """
    wrapped = (textwrap.wrap(note, _WIDTH, initial_indent="# - ", subsequent_indent="#   ") for note in counters.notes)
    notes = "".join(f"{line}\n" for lines in wrapped for line in lines)
    choices = f"# Of counters that measure the same, one is collected:\n{notes}" if notes else ""
    plugins = [_format_plugin(name, paths, interval) for name, paths in counters.by_object().items()]
    return "\n".join([_OPTIONS + choices, *plugins])


def _format_plugin(name: str, paths: Sequence[CounterPath], interval: int | None) -> str:
    """Return the `win_perf_counters` input of one object; if `interval` (ns) is None, the agent's interval applies."""
    passing = is_transient(name)
    refresh = "5m" if is_everywhere(name) and not passing else "1m"
    # Named instances of SQL Server have the same measurement as the default one.
    of = f"{SQL_DEFAULT}:{name.rpartition(':')[2]}" if name.startswith(SQL_NAMED) else name
    instances = dict.fromkeys(path.instance for path in paths)
    whole = EACH_INSTANCE in instances
    lines = [
        "[[inputs.win_perf_counters]]",
        f"  alias = {_quote_toml(name)}",
        *([f'  interval = "{interval / SECOND:g}s"'] if interval is not None else []),
        *(['  log_level = "error"'] if passing else []),
        "  UseWildcardsExpansion = true",
        "  LocalizeWildcardsExpansion = false",
        f'  CountersRefreshInterval = "{refresh}"',
        '  IgnoredErrors = ["PDH_NO_DATA"]',
        "",
        "  [[inputs.win_perf_counters.object]]",
        f"    Measurement = {_quote_toml(find_measurement(of))}",
        f"    ObjectName = {_quote_toml(name)}",
        *_list(
            "Instances",
            [EACH_INSTANCE] if whole else [_NO_INSTANCE if instance is None else instance for instance in instances],
        ),
        *(["    IncludeTotal = true"] if whole and TOTAL in instances else []),
        *_list("Counters", [*dict.fromkeys(path.counter for path in paths)]),
    ]
    return "".join(f"{line}\n" for line in lines)


def _list(field: str, values: Sequence[str]) -> list[str]:
    line = f"    {field} = [{', '.join(map(_quote_toml, values))}]"
    if len(line) <= _WIDTH:
        return [line]
    return [f"    {field} = [", *(f"      {_quote_toml(value)}," for value in values), "    ]"]


def _quote_toml(text: str) -> str:
    """Return a text as a TOML string, with `$` doubled (except in `${`), as Telegraf expands environment variables."""
    return json.dumps(re.sub(r"\$(?!\{)", "$$", text), ensure_ascii=False)
