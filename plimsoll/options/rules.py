"""`plimsoll rules`."""

from typing import Annotated

import typer

from plimsoll.options.shared import JsonOption

app = typer.Typer(help="What is judged by: packs of rules.", no_args_is_help=True, rich_markup_mode=None)

PacksArgument = Annotated[
    list[str] | None,
    typer.Argument(help="Packs by name, or .yaml files of one's own. Default: all that ship.", metavar="PACK"),
]
RulePackOption = Annotated[
    list[str] | None,
    typer.Option("--pack", help="This pack only (name or .yaml file); repeat for more.", show_default=False),
]


@app.command("list")
def rules_list_command(pack: RulePackOption = None, json: JsonOption = None) -> None:
    """List rules: severity, signal, threshold (… stands for further conditions), how long it is crossed before the
    rule fires, and how many documents it is from.
    """
    from plimsoll.commands import rules

    rules.list_rules(tuple(pack or ()), json)


@app.command("check")
def rules_check_command(packs: PacksArgument = None) -> None:
    """Check packs: every mistake is told with file, line and column, and the exit status is 2."""
    from plimsoll.commands import rules

    rules.check(tuple(packs or ()))


@app.command("explain")
def rules_explain_command(
    rule: Annotated[str, typer.Argument(help="A rule's id: cpu-busy.", metavar="RULE", show_default=False)],
    pack: RulePackOption = None,
) -> None:
    """Explain a rule: what is counted, the threshold, why, which documents it is from, what to look at next."""
    from plimsoll.commands import rules

    rules.explain_rule(rule, tuple(pack or ()))


@app.command("test")
def rules_test_command(packs: PacksArgument = None) -> None:
    """Run the cases of packs; the exit status is 1 if one does not come out as it expects."""
    from plimsoll.commands import rules

    raise typer.Exit(rules.test(tuple(packs or ())))
