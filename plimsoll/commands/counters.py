"""`plimsoll rules counters`."""

import re
import sys
from dataclasses import dataclass
from pathlib import Path

from model.errors import Unusable
from model.remark import counted
from model.times import SECOND, parse_duration
from plimsoll.console import STDOUT, is_stdout, plain, say, spare
from plimsoll.files import write_text
from rules.collect import listing, logman, telegraf
from rules.counters import Counters, counters, signals_of
from rules.load import load

_INTERVAL = 15 * SECOND  # what Performance Monitor has
# As SQL Server allows them; or a variable of Telegraf's.
_INSTANCE = re.compile(r"[A-Za-z_][\w#$]{0,15}")
_VARIABLE = re.compile(r"\$\{[A-Za-z_]\w*(:-[\w#]+)?\}")


@dataclass(frozen=True)
class Wanted:
    """Which counters, and how they are to be written, as typed."""

    packs: tuple[str, ...]
    only: tuple[str, ...]
    form: str
    instances: tuple[str, ...]
    interval: str | None


def run(wanted: Wanted, out: Path | None) -> None:
    """Write counters to a file or to stdout. Why some were left out is said in the file, or on stderr."""
    interval = _interval(wanted)
    needed = _needed(wanted)
    if wanted.form == "telegraf":
        text = telegraf.text(needed, interval)
    elif wanted.form == "logman":
        text = logman.text(needed, interval or _INTERVAL)
    else:
        text = listing.text(needed)
        for note in needed.notes:  # a list has no comments
            print(f"remark: {note}", file=sys.stderr)
    if out is None or out == STDOUT:
        print(text, end="")
        return
    spare((), out, others=[Path(name) for name in (*wanted.packs, *wanted.only)])
    # Windows' own programs read the other two.
    write_text(out, text if wanted.form == "telegraf" else text.replace("\n", "\r\n"))
    if not is_stdout(out):
        objects = counted(len(needed.by_object()), "object")
        say(f"{plain(str(out))}: {counted(len(needed.recorded), 'counter')} of {objects}")


def _needed(wanted: Wanted) -> Counters:
    """The counters of every signal, as dashboards draw what no rule names, too; or of the packs that stand in for all.

    Unusable if a pack that was named has none, or an instance was named and none is SQL Server's.
    """
    for name in wanted.instances:
        _check_instance(name, wanted.form)
    catalogue = load(wanted.packs, wanted.only)
    signals = catalogue.signals
    for pack in catalogue.named if catalogue.by_hand else ():
        if not counters(signals_of([pack], signals), signals).paths:
            raise Unusable(
                f"pack {pack.pack}: nothing to collect: none of its signals is taken from a counter that a Windows of "
                "today has; name another pack"
            )
    names = signals_of(catalogue.packs, signals) if wanted.only else tuple(signals)
    needed = counters(names, signals, wanted.instances)
    if wanted.instances and needed == counters(names, signals):
        raise Unusable(
            f"--instance {wanted.instances[0]}: none of these counters is SQL Server's; leave it out, or choose "
            "--only sql-server as well"
        )
    return needed


def _check_instance(name: str, form: str) -> None:
    if _VARIABLE.fullmatch(name):
        if form != "telegraf":
            raise Unusable(f"--instance {name}: only Telegraf takes variables; write the instance's name")
    elif not _INSTANCE.fullmatch(name) or name.casefold().startswith("mssql$"):
        raise Unusable(f'--instance "{name}" is not the name of an instance of SQL Server; write it like PAYROLL')


def _interval(wanted: Wanted) -> int | None:
    """How far samples are to lie apart. Unusable if that cannot be, or is not said in this form."""
    if wanted.interval is None:
        return None
    if wanted.form == "list":
        raise Unusable("--interval: a list does not hold it; give typeperf or logman -si 15, or choose --as logman")
    try:
        interval = parse_duration(wanted.interval)
    except ValueError as error:
        raise Unusable(f"--interval: {error}") from None
    if interval < SECOND or interval % SECOND:
        raise Unusable(f"--interval {wanted.interval} is not whole seconds, 1 or more; write it like 15s")
    return interval
