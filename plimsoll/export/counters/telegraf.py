"""Writes counters as Telegraf inputs for Windows: one `win_perf_counters` plugin per object.

An error in one counter ends the collection of its plugin, so objects do not share one.
"""

import json
import re
import textwrap
from collections.abc import Sequence

from plimsoll.export.counters.counters import Counters, comes_and_goes, is_everywhere
from plimsoll.model.names import measurement
from plimsoll.model.perfmon import SQL_DEFAULT, SQL_NAMED, TOTAL, CounterPath
from plimsoll.model.times import SECOND
from plimsoll.rules.schema.field_types import EACH

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


def text(counters: Counters, interval: int | None = None) -> str:
    """The inputs, to be added to a configuration with an agent and an output. If `interval` (ns) is None, the agent's
    interval applies.
    """
    wrapped = (textwrap.wrap(note, _WIDTH, initial_indent="# - ", subsequent_indent="#   ") for note in counters.notes)
    notes = "".join(f"{line}\n" for lines in wrapped for line in lines)
    choices = f"# Of counters that measure the same, one is collected:\n{notes}" if notes else ""
    blocks = [_plugin(name, paths, interval) for name, paths in counters.by_object().items()]
    return "\n".join([_OPTIONS + choices, *blocks])


def _plugin(name: str, paths: Sequence[CounterPath], interval: int | None) -> str:
    lines = ["[[inputs.win_perf_counters]]", f"  alias = {_quoted(name)}"]
    if interval is not None:
        lines.append(f'  interval = "{interval / SECOND:g}s"')
    if comes_and_goes(name):
        lines.append('  log_level = "error"')
    lasting = is_everywhere(name) and not comes_and_goes(name)
    lines += [
        "  UseWildcardsExpansion = true",
        "  LocalizeWildcardsExpansion = false",
        f'  CountersRefreshInterval = "{"5m" if lasting else "1m"}"',
        '  IgnoredErrors = ["PDH_NO_DATA"]',
        "",
        "  [[inputs.win_perf_counters.object]]",
        f"    Measurement = {_quoted(_measurement(name))}",
        f"    ObjectName = {_quoted(name)}",
        *_instances(paths),
        *_list("Counters", tuple(dict.fromkeys(path.counter for path in paths))),
    ]
    return "".join(f"{line}\n" for line in lines)


def _measurement(name: str) -> str:
    """The measurement of an object; named instances of SQL Server have the same as the default one."""
    return measurement(f"{SQL_DEFAULT}:{name.rpartition(':')[2]}" if name.startswith(SQL_NAMED) else name)


def _instances(paths: Sequence[CounterPath]) -> list[str]:
    names = tuple(dict.fromkeys(path.instance for path in paths))
    if EACH not in names:
        return _list("Instances", [_NO_INSTANCE if name is None else name for name in names])
    return [*_list("Instances", [EACH]), *(["    IncludeTotal = true"] if TOTAL in names else [])]


def _list(field: str, values: Sequence[str]) -> list[str]:
    line = f"    {field} = [{', '.join(map(_quoted, values))}]"
    if len(line) <= _WIDTH:
        return [line]
    return [f"    {field} = [", *(f"      {_quoted(value)}," for value in values), "    ]"]


def _quoted(text: str) -> str:
    """A TOML string. A dollar that does not start a variable is doubled."""
    return json.dumps(re.sub(r"\$(?!\{)", "$$", text), ensure_ascii=False)
