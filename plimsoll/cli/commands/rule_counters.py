"""`plimsoll rules counters`."""

import re
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path

import typer

from plimsoll.cli import args
from plimsoll.cli.console import print_error, print_line, print_plain
from plimsoll.cli.outputs import STDOUT, is_stdout, refuse_overwriting, write_text
from plimsoll.export.counters import logman, telegraf
from plimsoll.export.counters.counter_list import CounterList, counters, signals_of
from plimsoll.model.errors import Unusable
from plimsoll.model.remark import counted
from plimsoll.model.times import SECOND
from plimsoll.rules.load import load

_INTERVAL = 15 * SECOND  # Performance Monitor's default
# The names SQL Server allows, or a variable in Telegraf's configuration.
_INSTANCE = re.compile(r"[A-Za-z_][\w#$]{0,15}")
_VARIABLE = re.compile(r"\$\{[A-Za-z_]\w*(:-[\w#]+)?\}")


class Form(StrEnum):
    """The program that is to record the counters."""

    LIST = "list"
    LOGMAN = "logman"
    TELEGRAF = "telegraf"


def list_counters(
    pack: args.PackOption = None,
    only: args.OnlyOption = None,
    form: Form = typer.Option(
        Form.LIST,
        "--as",
        help="list (typeperf -cf, logman create counter -cf), logman (a Data Collector Set, logman import -xml) or "
        "telegraf (inputs.win_perf_counters).",
    ),
    instance: list[str] | None = typer.Option(
        None, "--instance", help="Add a named instance of SQL Server: PAYROLL. Repeat for more."
    ),
    interval: str | None = typer.Option(
        None,
        "--interval",
        help="The sampling interval. Default: 15s for logman, the agent's own for telegraf.",
        callback=args.not_empty,
    ),
    out: Path | None = args.path_option(None, "--out", "The file; default: stdout."),
) -> None:
    """List the Windows counters to record, in a form for typeperf, logman or Telegraf.

    These are the counters of every signal, also of your own packs; with --only, those of the packs named. How to
    record them is in docs/collect.md.
    """
    sampling_interval = _interval(interval, form)
    needed = _needed(pack or (), only or (), form, instance or ())
    if form == "telegraf":
        text = telegraf.text(needed, sampling_interval)
    elif form == "logman":
        text = logman.text(needed, sampling_interval or _INTERVAL)
    else:
        text = needed.as_list()
        for note in needed.notes:  # a list has no comments
            print_error(f"remark: {note}")
    if out is None or out == STDOUT:
        print_plain(text)
        return
    refuse_overwriting((), out, also_read=[Path(name) for name in (*(pack or ()), *(only or ()))])
    # Windows' own programs read the other two forms.
    write_text(out, text if form == "telegraf" else text.replace("\n", "\r\n"))
    if not is_stdout(out):
        objects = counted(len(needed.by_object()), "object")
        print_line(f"{out}: {counted(len(needed.recorded), 'counter')} of {objects}")


def _needed(packs: Sequence[str], only: Sequence[str], form: Form, instances: Sequence[str]) -> CounterList:
    """Return the counters of every signal (dashboards also draw signals without rules), or with --only of those packs.

    Unusable if a pack that was named needs no counters, or if --instance is given and none is SQL Server's.
    """
    for name in instances:
        if _VARIABLE.fullmatch(name):
            if form != "telegraf":
                raise Unusable(f"--instance {name}: only Telegraf takes variables; write the instance's name")
        elif not _INSTANCE.fullmatch(name) or name.casefold().startswith("mssql$"):
            raise Unusable(f'--instance "{name}" is not the name of an instance of SQL Server; write it like PAYROLL')
    catalogue = load(packs, only)
    signals = catalogue.signals
    for pack in catalogue.named if catalogue.by_hand else ():
        if not counters(signals_of([pack], signals), signals).paths:
            raise Unusable(
                f"pack {pack.pack}: nothing to collect: none of its signals is taken from a counter that a Windows of "
                "today has; name another pack"
            )
    names = signals_of(catalogue.packs, signals) if only else tuple(signals)
    needed = counters(names, signals, instances)
    if instances and needed == counters(names, signals):
        raise Unusable(
            f"--instance {instances[0]}: none of these counters is SQL Server's; leave it out, or choose "
            "--only sql-server as well"
        )
    return needed


def _interval(typed: str | None, form: Form) -> int | None:
    """The sampling interval in ns, None for the default. Unusable if it is not one, or if this form cannot hold it."""
    if typed is None:
        return None
    if form is Form.LIST:
        raise Unusable("--interval: a list does not hold it; give typeperf or logman -si 15, or choose --as logman")
    interval = args.typed_duration("--interval", typed)
    if interval < SECOND or interval % SECOND:
        raise Unusable(f"--interval {typed} is not whole seconds, 1 or more; write it like 15s")
    return interval
