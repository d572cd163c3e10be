"""`plimsoll rules`."""

from collections.abc import Sequence
from typing import Annotated

import typer

from plimsoll.cli import args
from plimsoll.cli.commands.new_pack import new_pack
from plimsoll.cli.commands.rule_counters import list_counters
from plimsoll.cli.console import print_line, print_lines
from plimsoll.cli.outputs import STDOUT, write_json
from plimsoll.model.errors import Unusable, printable, suggest
from plimsoll.model.remark import counted
from plimsoll.model.times import duration_text
from plimsoll.report import rule_page
from plimsoll.rules.cases import run_case
from plimsoll.rules.load import load
from plimsoll.rules.schema.document import document

_COLUMNS = ("rule", "severity", "signal", "healthy", "for", "sources")


PacksArgument = Annotated[
    list[str] | None,
    typer.Argument(help="Shipped packs by name, or .yaml files. Default: all shipped packs.", metavar="PACK"),
]


app = args.command_app("List, check, explain and write rules; a pack is a file of rules.")


@app.command("list", epilog=args.examples("plimsoll rules list", "plimsoll rules list --only windows"))
def list_rules(pack: args.PackOption = None, only: args.OnlyOption = None, json: args.JsonOption = None) -> None:
    """List rules: severity, signal, threshold (…: further conditions), duration, number of sources."""
    catalogue = load(pack or (), only or ())
    packs, signals = catalogue.packs, catalogue.signals
    if json is not None:
        write_json(json, document(packs, signals).model_dump_json(by_alias=True, indent=2))
    if json == STDOUT:
        return
    rows = {
        pack.pack: [
            (
                rule.id,
                rule.severity,
                printable(signals[rule.signal].title),
                rule_page.threshold_text(rule, signals),
                duration_text(rule.for_) if rule.for_ else "at once",
                str(len(rule.sources)),
            )
            for rule in pack.rules
        ]
        for pack in packs
    }
    table = [_COLUMNS, *(row for of_pack in rows.values() for row in of_pack)]
    widths = [max(len(row[at]) for row in table) for at in range(len(_COLUMNS))]
    print_lines([(f"  {_line(_COLUMNS, widths)}",)])
    for listed in packs:
        print_lines([(f"{listed.pack}: {listed.title}",), *((f"  {_line(row, widths)}",) for row in rows[listed.pack])])


@app.command("check", epilog=args.examples("plimsoll rules check mine.yaml"))
def check(packs: PacksArgument = None, pack: args.PackOption = None, only: args.OnlyOption = None) -> None:
    """Check packs. Every mistake is printed with file, line and column; the exit status is then 2."""
    checked = load((*(packs or ()), *(pack or ())), only or ()).named  # loading them checks them
    print_line(f"ok: {counted(sum(len(pack.rules) for pack in checked), 'rule')} in {counted(len(checked), 'pack')}")


@app.command("explain", epilog=args.examples("plimsoll rules explain cpu-busy"))
def explain(
    rule: str = typer.Argument(..., help="A rule's id: cpu-busy.", metavar="RULE"),
    pack: args.PackOption = None,
    only: args.OnlyOption = None,
) -> None:
    """Explain a rule: the counter, the threshold, why it is there, its sources, what to look at next."""
    catalogue = load(pack or (), only or ())
    by_id = {rule.id: (rule, pack) for pack in catalogue.packs for rule in pack.rules}
    if rule not in by_id:
        raise Unusable(f'rule "{rule}" is not known{suggest(rule, list(by_id))}; plimsoll rules list names them all')
    print_lines((line,) for line in rule_page.as_text(rule_page.explain(*by_id[rule], catalogue.signals)))


@app.command("test", epilog=args.examples("plimsoll rules test mine.yaml", "plimsoll rules test"))
def run_cases(packs: PacksArgument = None, pack: args.PackOption = None, only: args.OnlyOption = None) -> None:
    """Run the test cases in packs. The exit status is 1 if one fails."""
    catalogue = load((*(packs or ()), *(pack or ())), only or ())
    cases = failed = 0
    for tested in catalogue.named:
        for rule in tested.rules:
            for case in rule.cases:
                cases += 1
                if wrong := run_case(rule, case, catalogue.signals):
                    failed += 1
                    print_line(f'{catalogue.files[tested.pack]}: rule {rule.id}: case "{case.name}": {wrong}')
    rules = sum(len(tested.rules) for tested in catalogue.named)
    print_line(f"{counted(cases, 'case')} of {counted(rules, 'rule')}, {failed} failed")
    raise typer.Exit(1 if failed else 0)


app.command("new", epilog=args.examples("plimsoll rules new mine.yaml"))(new_pack)
app.command(
    "counters",
    epilog=args.examples(
        "plimsoll rules counters --out counters.txt",
        "plimsoll rules counters --only sql-server-today --instance PAYROLL --as logman --out sql.xml",
    ),
)(list_counters)


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip()
