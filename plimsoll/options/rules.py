"""`plimsoll rules`."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from plimsoll.options.shared import JsonOption, OnlyOption, PackOption, not_empty, path_option

app = typer.Typer(help="What is judged by: packs of rules.", no_args_is_help=True, rich_markup_mode=None)

PacksArgument = Annotated[
    list[str] | None,
    typer.Argument(help="Packs by name, or .yaml files of one's own, as with --pack. Default: all.", metavar="PACK"),
]


class Form(StrEnum):
    """For which collector counters are written."""

    LIST = "list"
    LOGMAN = "logman"
    TELEGRAF = "telegraf"


@app.command("list")
def rules_list_command(pack: PackOption = None, only: OnlyOption = None, json: JsonOption = None) -> None:
    """List rules: severity, signal, threshold (… stands for further conditions), how long it is crossed before the
    rule fires, and how many documents it is from.
    """
    from plimsoll.commands import rules
    from rules.load import load

    rules.list_rules(load(pack or (), only or ()), json)


@app.command("check")
def rules_check_command(packs: PacksArgument = None, pack: PackOption = None, only: OnlyOption = None) -> None:
    """Check packs: every mistake is told with file, line and column, and the exit status is 2."""
    from plimsoll.commands import rules
    from rules.load import load

    rules.check(load((*(packs or ()), *(pack or ())), only or ()))


@app.command("explain")
def rules_explain_command(
    rule: Annotated[str, typer.Argument(help="A rule's id: cpu-busy.", metavar="RULE", show_default=False)],
    pack: PackOption = None,
    only: OnlyOption = None,
) -> None:
    """Explain a rule: what is counted, the threshold, why, which documents it is from, what to look at next."""
    from plimsoll.commands import rules
    from rules.load import load

    rules.explain_rule(rule, load(pack or (), only or ()))


@app.command("new")
def rules_new_command(
    path: Annotated[Path, typer.Argument(help="The file to write: mine.yaml.", metavar="FILE", show_default=False)],
) -> None:
    """Write a pack to begin with: an example with comments, and beside it the JSON schema for editors."""
    from plimsoll.commands import new_pack

    new_pack.run(path)


@app.command("test")
def rules_test_command(packs: PacksArgument = None, pack: PackOption = None, only: OnlyOption = None) -> None:
    """Run the cases of packs; the exit status is 1 if one does not come out as it expects."""
    from plimsoll.commands import rules
    from rules.load import load

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
            help="A named instance of SQL Server, beside the default one: PAYROLL. Repeat for more.",
            show_default=False,
        ),
    ] = None,
    interval: Annotated[
        str | None,
        typer.Option(
            "--interval",
            help="How far samples lie apart. Default: 15s with logman, that of the agent with telegraf.",
            callback=not_empty,
        ),
    ] = None,
    out: Annotated[Path | None, path_option("--out", "The file to write. Default: stdout.", show_default=False)] = None,
) -> None:
    """Print the counters of Windows that rules need, for what is to record them; docs/collect.md tells how.

    They are those of every signal, those of a pack of one's own among them; with --only those that these packs need.
    """
    from plimsoll.commands import counters

    wanted = counters.Wanted(tuple(pack or ()), tuple(only or ()), form, tuple(instance or ()), interval)
    counters.run(wanted, out)
