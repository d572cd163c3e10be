"""Counters as inputs of Telegraf's for Windows: a `win_perf_counters` for each object.

An error in one counter ends what its plugin collects at that time, so each object has a plugin of its own.
"""

import json
import re
import textwrap
from collections.abc import Sequence

from model.names import measurement
from model.perfmon import SQL_DEFAULT, SQL_NAMED, TOTAL, CounterPath
from model.times import SECOND
from rules.counters import Counters, comes_and_goes, is_everywhere
from rules.field_types import EACH

_NO_INSTANCE = "------"
_WIDTH = 120
_OPTIONS = """\
# Each object is a plugin of its own: an error in one counter ends the collection of all others of the same plugin. What
# is said in each, and why:
# - UseWildcardsExpansion: otherwise the #1 of a second instance with the same name is dropped, and both become one.
# - LocalizeWildcardsExpansion = false: otherwise a German Windows sends German names.
# - IncludeTotal: otherwise * leaves _Total out.
# - IgnoredErrors: PDH_NO_DATA is what a plugin gives of which the host has nothing.
# - CountersRefreshInterval: new instances are found then; rates are taken over 1 s once and not over the interval. It
#   is shorter where a service may be started later, or instances come and go; that one of these has gone is no warning.
# A counter or object that the host does not have is left out in silence, and looked for again later.
"""


def text(counters: Counters, interval: int | None = None) -> str:
    """The inputs, which go into a configuration beside an agent and an output. `interval` (ns) is that of the agent
    where none is given.
    """
    wrapped = (textwrap.wrap(note, _WIDTH, initial_indent="# - ", subsequent_indent="#   ") for note in counters.notes)
    notes = "".join(f"{line}\n" for lines in wrapped for line in lines)
    said = f"# Of counters that say the same, one is collected:\n{notes}" if notes else ""
    blocks = [_plugin(name, paths, interval) for name, paths in counters.by_object().items()]
    return "\n".join([_OPTIONS + said, *blocks])


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
    """That of an object, those of SQL Server's named instances as those of its default one."""
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
    """A text of TOML. A dollar is written twice, since one starts a variable, unless it does start one."""
    return json.dumps(re.sub(r"\$(?!\{)", "$$", text), ensure_ascii=False)
