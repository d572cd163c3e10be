"""Names are those of the trade: no pronouns or participles, and each class has a name of its own."""

import ast
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import plimsoll

PACKAGE = Path(plimsoll.__file__).parent
# Words that do not say what a thing is. docs/glossary.md has the words that do.
VAGUE = frozenset(
    [
        "one",
        "found",
        "told",
        "said",
        "asked",
        "made",
        "some",
        "every",
        "each",
        "known",
        "wanted",
        "given",
        "own",
        "what",
        "there",
        "held",
        "seen",
        "more",
        "others",
        "these",
        "its",
        "least",
        "how",
    ]
)
LARGEST_SHARE = 0.003
# Folders that are registered alike have modules of equal names, which say what each of them is for.
ROLES = frozenset({"routes", "insight", "find", "json", "read", "samples", "runs", "server", "address"})


def names(tree: ast.AST) -> Iterator[str]:
    """Yield each use of a name: variables, arguments, attributes, functions and classes."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.arg | ast.keyword):
            yield node.arg or ""
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name


def modules() -> dict[str, ast.Module]:
    """Return the syntax tree of each module by its path below the package."""
    paths = {path.relative_to(PACKAGE).as_posix(): path for path in sorted(PACKAGE.rglob("*.py"))}
    return {name: ast.parse(path.read_text("utf-8")) for name, path in paths.items()}


def test_names_say_what_things_are():
    vague: Counter[str] = Counter()
    total = 0
    for module, tree in modules().items():
        for name in names(tree):
            total += 1
            vague[module] += name.strip("_").lower() in VAGUE
    assert total > 100_000
    worst = ", ".join(f"{module} ({count})" for module, count in vague.most_common(10))
    assert vague.total() <= LARGEST_SHARE * total, f"{vague.total()} of {total} names are vague; most in {worst}"


def test_no_two_classes_share_a_name():
    owners = defaultdict(list)
    for module, tree in modules().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                owners[node.name].append(module)
    assert {name: places for name, places in owners.items() if len(places) > 1} == {}


def test_no_two_modules_of_a_room_share_a_name():
    owners = defaultdict(list)
    for module in modules():
        path = Path(module)
        if path.stem not in ROLES | {"__init__"}:
            owners[path.parts[0], path.stem].append(module)
    assert {name: places for name, places in owners.items() if len(places) > 1} == {}
