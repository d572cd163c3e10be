"""`plimsoll rules`."""

from collections.abc import Sequence
from pathlib import Path

from model.errors import Unusable
from model.remark import counted
from model.times import words
from plimsoll.console import STDOUT, write_json
from review.explain import explain, threshold_text
from rules.cases import run_case
from rules.document import document
from rules.load import load_packs, load_signals
from rules.schema import Pack
from rules.source import suggest

_COLUMNS = ("rule", "severity", "signal", "healthy", "for", "sources")


def list_rules(chosen: Sequence[str], json: Path | None) -> None:
    """A line for each rule, pack by pack."""
    packs, signals = load_packs(chosen), load_signals()
    if json is not None:
        write_json(json, document(packs, signals).model_dump_json(by_alias=True, indent=2))
    if json == STDOUT:
        return
    rows = {
        pack.pack: [
            (
                rule.id,
                rule.severity,
                signals[rule.signal].title,
                threshold_text(rule, signals),
                words(rule.for_) if rule.for_ else "at once",
                str(len(rule.sources)),
            )
            for rule in pack.rules
        ]
        for pack in packs
    }
    every = [_COLUMNS, *(row for of_pack in rows.values() for row in of_pack)]
    widths = [max(len(row[at]) for row in every) for at in range(len(_COLUMNS))]
    print("  " + _line(_COLUMNS, widths))
    for pack in packs:
        print(f"{pack.pack}: {pack.title}")
        for row in rows[pack.pack]:
            print("  " + _line(row, widths))


def check(chosen: Sequence[str]) -> None:
    """Say that packs are right. Mistakes tells all that is wrong with them."""
    packs = load_packs(chosen)
    print(f"ok: {counted(sum(len(pack.rules) for pack in packs), 'rule')} in {counted(len(packs), 'pack')}")


def explain_rule(name: str, chosen: Sequence[str]) -> None:
    """Print everything that is to be said of a rule. Unusable if there is none of that name."""
    by_id = {rule.id: (rule, pack) for pack in load_packs(chosen) for rule in pack.rules}
    if name not in by_id:
        raise Unusable(f'rule "{name}" is not known{suggest(name, list(by_id))}; plimsoll rules list names them all')
    print(explain(*by_id[name], load_signals()), end="")


def test(chosen: Sequence[str]) -> int:
    """Run every case and tell which failed; the exit status."""
    packs, signals = load_packs(chosen), load_signals()
    cases = failed = 0
    for file, pack in zip(_files(chosen, packs), packs, strict=True):
        for rule in pack.rules:
            for case in rule.cases:
                cases += 1
                if wrong := run_case(rule, case, signals):
                    failed += 1
                    print(f'{file}: rule {rule.id}: case "{case.name}": {wrong}')
    rules = sum(len(pack.rules) for pack in packs)
    print(f"{counted(cases, 'case')} of {counted(rules, 'rule')}, {failed} failed")
    return 1 if failed else 0


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip()


def _files(chosen: Sequence[str], packs: Sequence[Pack]) -> list[str]:
    """The file each pack is from: as it was named, or where it lies among those that ship."""
    names = chosen or [pack.pack for pack in packs]
    return [name if Path(name).suffix in (".yaml", ".yml") else f"packs/{name}.yaml" for name in names]
