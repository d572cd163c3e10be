"""`plimsoll rules counters`."""

import re
from dataclasses import dataclass
from pathlib import Path

from plimsoll.cli.console import print_error, print_line, print_plain
from plimsoll.cli.outputs import STDOUT, is_stdout, refuse_overwriting, write_text
from plimsoll.export.counters import logman, telegraf
from plimsoll.export.counters.counters import Counters, counters, signals_of
from plimsoll.model.errors import Unusable
from plimsoll.model.remark import counted
from plimsoll.model.times import SECOND, parse_duration
from plimsoll.rules.load import load

_INTERVAL = 15 * SECOND  # Performance Monitor's default
# The names SQL Server allows, or a variable in Telegraf's configuration.
_INSTANCE = re.compile(r"[A-Za-z_][\w#$]{0,15}")
_VARIABLE = re.compile(r"\$\{[A-Za-z_]\w*(:-[\w#]+)?\}")


@dataclass(frozen=True)
class Options:
    """Which counters to write, and how, as typed."""

    packs: tuple[str, ...]
    only: tuple[str, ...]
    form: str
    instances: tuple[str, ...]
    interval: str | None


def run(options: Options, out: Path | None) -> None:
    """Write counters to a file or to stdout. Notes on counters left out go into the file, or to stderr for a list."""
    interval = _interval(options)
    needed = _needed(options)
    if options.form == "telegraf":
        text = telegraf.text(needed, interval)
    elif options.form == "logman":
        text = logman.text(needed, interval or _INTERVAL)
    else:
        text = needed.as_list()
        for note in needed.notes:  # a list has no comments
            print_error(f"remark: {note}")
    if out is None or out == STDOUT:
        print_plain(text)
        return
    refuse_overwriting((), out, also_read=[Path(name) for name in (*options.packs, *options.only)])
    # Windows' own programs read the other two forms.
    write_text(out, text if options.form == "telegraf" else text.replace("\n", "\r\n"))
    if not is_stdout(out):
        objects = counted(len(needed.by_object()), "object")
        print_line(f"{out}: {counted(len(needed.recorded), 'counter')} of {objects}")


def _needed(options: Options) -> Counters:
    """The counters of every signal (dashboards also draw signals without rules), or with --only of those packs.

    Unusable if a pack that was named needs no counters, or if --instance is given and none is SQL Server's.
    """
    for name in options.instances:
        _check_instance(name, options.form)
    catalogue = load(options.packs, options.only)
    signals = catalogue.signals
    for pack in catalogue.named if catalogue.by_hand else ():
        if not counters(signals_of([pack], signals), signals).paths:
            raise Unusable(
                f"pack {pack.pack}: nothing to collect: none of its signals is taken from a counter that a Windows of "
                "today has; name another pack"
            )
    names = signals_of(catalogue.packs, signals) if options.only else tuple(signals)
    needed = counters(names, signals, options.instances)
    if options.instances and needed == counters(names, signals):
        raise Unusable(
            f"--instance {options.instances[0]}: none of these counters is SQL Server's; leave it out, or choose "
            "--only sql-server as well"
        )
    return needed


def _check_instance(name: str, form: str) -> None:
    if _VARIABLE.fullmatch(name):
        if form != "telegraf":
            raise Unusable(f"--instance {name}: only Telegraf takes variables; write the instance's name")
    elif not _INSTANCE.fullmatch(name) or name.casefold().startswith("mssql$"):
        raise Unusable(f'--instance "{name}" is not the name of an instance of SQL Server; write it like PAYROLL')


def _interval(options: Options) -> int | None:
    """The sampling interval in ns, None for the default. Unusable if it is not one, or if this form cannot hold it."""
    if options.interval is None:
        return None
    if options.form == "list":
        raise Unusable("--interval: a list does not hold it; give typeperf or logman -si 15, or choose --as logman")
    try:
        interval = parse_duration(options.interval)
    except ValueError as error:
        raise Unusable(f"--interval: {error}") from None
    if interval < SECOND or interval % SECOND:
        raise Unusable(f"--interval {options.interval} is not whole seconds, 1 or more; write it like 15s")
    return interval
