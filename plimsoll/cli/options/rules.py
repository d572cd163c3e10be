"""`plimsoll rules`."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from plimsoll.cli.options.shared import JsonOption, OnlyOption, PackOption, not_empty, path_option
from plimsoll.model.errors import Unusable

app = typer.Typer(
    help="List, check, explain and write rules; a pack is a file of rules.", no_args_is_help=True, rich_markup_mode=None
)

PacksArgument = Annotated[
    list[str] | None,
    typer.Argument(help="Shipped packs by name, or .yaml files. Default: all shipped packs.", metavar="PACK"),
]


class Form(StrEnum):
    """The program that is to record the counters."""

    LIST = "list"
    LOGMAN = "logman"
    TELEGRAF = "telegraf"


@app.command("list")
def rules_list_command(pack: PackOption = None, only: OnlyOption = None, json: JsonOption = None) -> None:
    """List rules: severity, signal, threshold (…: further conditions), duration, number of sources."""
    from plimsoll.cli.commands import rules
    from plimsoll.rules.load import load

    rules.list_rules(load(pack or (), only or ()), json)


@app.command("check")
def rules_check_command(packs: PacksArgument = None, pack: PackOption = None, only: OnlyOption = None) -> None:
    """Check packs. Every mistake is printed with file, line and column; the exit status is then 2."""
    from plimsoll.cli.commands import rules
    from plimsoll.rules.load import load

    rules.check(load((*(packs or ()), *(pack or ())), only or ()))


@app.command("explain")
def rules_explain_command(
    rule: Annotated[str, typer.Argument(help="A rule's id: cpu-busy.", metavar="RULE", show_default=False)],
    pack: PackOption = None,
    only: OnlyOption = None,
) -> None:
    """Explain a rule: the counter, the threshold, why it is there, its sources, what to look at next."""
    from plimsoll.cli.commands import rules
    from plimsoll.rules.load import load

    rules.explain_rule(rule, load(pack or (), only or ()))


@app.command("new")
def rules_new_command(
    path: Annotated[Path, typer.Argument(help="The file to write: mine.yaml.", metavar="FILE", show_default=False)],
    from_log: Annotated[
        list[str] | None,
        typer.Option(
            "--from",
            help="A log: write a signal for each of its Windows counters that none reads yet. Repeat for more.",
            metavar="LOG",
            show_default=False,
        ),
    ] = None,
    counter: Annotated[
        list[str] | None,
        typer.Option(
            "--counter",
            help="With --from, only counters that match; * is any text: 'Shop Orders\\*'. Repeat for more.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Write a pack to begin with, and beside it the JSON schema for editors.

    It is an example with comments; with --from, it has a signal for each counter that no signal reads.
    """
    from plimsoll.cli.commands import new_pack

    if from_log is None:
        if counter:
            raise Unusable("--counter is for the counters of a log: name it with --from")
        new_pack.run(path)
        return
    from plimsoll.cli.inputs import typed_inputs

    new_pack.run(path, typed_inputs(from_log, None, None, None, None, None), tuple(counter or ()))


@app.command("test")
def rules_test_command(packs: PacksArgument = None, pack: PackOption = None, only: OnlyOption = None) -> None:
    """Run the test cases in packs. The exit status is 1 if one fails."""
    from plimsoll.cli.commands import rules
    from plimsoll.rules.load import load

    raise typer.Exit(rules.test(load((*(packs or ()), *(pack or ())), only or ())))


@app.command("counters")
def rules_counters_command(
    pack: PackOption = None,
    only: OnlyOption = None,
    form: Annotated[
        Form,
        typer.Option(
            "--as",
            help="list (typeperf -cf, logman create counter -cf), logman (a Data Collector Set, logman import -xml) or "
            "telegraf (inputs.win_perf_counters).",
        ),
    ] = Form.LIST,
    instance: Annotated[
        list[str] | None,
        typer.Option(
            "--instance",
            help="Add a named instance of SQL Server: PAYROLL. Repeat for more.",
            show_default=False,
        ),
    ] = None,
    interval: Annotated[
        str | None,
        typer.Option(
            "--interval",
            help="The sampling interval. Default: 15s for logman, the agent's own for telegraf.",
            callback=not_empty,
        ),
    ] = None,
    out: Annotated[Path | None, path_option("--out", "The file to write. Default: stdout.", show_default=False)] = None,
) -> None:
    """List the Windows counters to record, in a form for typeperf, logman or Telegraf.

    These are the counters of every signal, also of your own packs; with --only, those of the packs named. How to
    record them is in docs/collect.md.
    """
    from plimsoll.cli.commands import counters

    options = counters.Options(tuple(pack or ()), tuple(only or ()), form, tuple(instance or ()), interval)
    counters.run(options, out)
