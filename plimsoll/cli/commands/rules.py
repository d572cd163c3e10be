"""`plimsoll rules`."""

from collections.abc import Sequence
from pathlib import Path

from plimsoll.cli.console import print_line, print_lines
from plimsoll.cli.outputs import STDOUT, write_json
from plimsoll.model.errors import Unusable, printable, suggest
from plimsoll.model.remark import counted
from plimsoll.model.times import duration_text
from plimsoll.report.markdown_text import as_text
from plimsoll.report.rule_page import explain, threshold_text
from plimsoll.rules.cases import run_case
from plimsoll.rules.load import Catalogue
from plimsoll.rules.schema.document import document

_COLUMNS = ("rule", "severity", "signal", "healthy", "for", "sources")


def list_rules(catalogue: Catalogue, json: Path | None) -> None:
    """Print a line for each rule, pack by pack."""
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
                threshold_text(rule, signals),
                duration_text(rule.for_) if rule.for_ else "at once",
                str(len(rule.sources)),
            )
            for rule in pack.rules
        ]
        for pack in packs
    }
    every = [_COLUMNS, *(row for of_pack in rows.values() for row in of_pack)]
    widths = [max(len(row[at]) for row in every) for at in range(len(_COLUMNS))]
    print_lines([(f"  {_line(_COLUMNS, widths)}",)])
    for pack in packs:
        print_lines([(f"{pack.pack}: {pack.title}",), *((f"  {_line(row, widths)}",) for row in rows[pack.pack])])


def check(catalogue: Catalogue) -> None:
    """Say that the packs are right: loading them has checked them."""
    packs = catalogue.named
    print_line(f"ok: {counted(sum(len(pack.rules) for pack in packs), 'rule')} in {counted(len(packs), 'pack')}")


def explain_rule(name: str, catalogue: Catalogue) -> None:
    """Print what is known about a rule. Unusable if there is no rule of that name."""
    by_id = {rule.id: (rule, pack) for pack in catalogue.packs for rule in pack.rules}
    if name not in by_id:
        raise Unusable(f'rule "{name}" is not known{suggest(name, list(by_id))}; plimsoll rules list names them all')
    print_lines((line,) for line in as_text(explain(*by_id[name], catalogue.signals)))


def test(catalogue: Catalogue) -> int:
    """Run the cases of the packs that were named, else of all, and print those that failed; returns the exit status."""
    packs = catalogue.named
    cases = failed = 0
    for pack in packs:
        for rule in pack.rules:
            for case in rule.cases:
                cases += 1
                if wrong := run_case(rule, case, catalogue.signals):
                    failed += 1
                    print_line(f'{catalogue.files[pack.pack]}: rule {rule.id}: case "{case.name}": {wrong}')
    rules = sum(len(pack.rules) for pack in packs)
    print_line(f"{counted(cases, 'case')} of {counted(rules, 'rule')}, {failed} failed")
    return 1 if failed else 0


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip()
