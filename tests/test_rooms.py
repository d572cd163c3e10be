"""Rules for the rooms as a whole."""

import ast
import re
import tomllib
from pathlib import Path

import grimp

import plimsoll

PACKAGE = Path(plimsoll.__file__).parent
OPTION = re.compile(r"(?<![\w-])--[a-z]")
# These call other programs.
CALLERS = {
    "collect/checks/looking.py",
    "up/service/installation.py",
}


def output(path: Path) -> list[str]:
    """The texts of a module but for its docstrings."""
    tree = ast.parse(path.read_text("utf-8"))
    docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    texts = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in docs]
    return [node.value for node in texts if isinstance(node.value, str)]


def test_no_room_below_the_command_line_names_an_option():
    modules = {path.relative_to(PACKAGE).as_posix(): path for path in PACKAGE.rglob("*.py")}
    below = {name: path for name, path in modules.items() if not name.startswith("cli/") and name not in CALLERS}
    assert len(below) > 300
    assert {name: text for name, path in below.items() for text in output(path) if OPTION.search(text)} == {}
    templates = [
        path for path in PACKAGE.rglob("*.j2") if re.search(r">\s*--[a-z]| --[a-z]+ [A-Z]", path.read_text("utf-8"))
    ]
    assert templates == []


def test_other_rooms_come_in_by_the_doors_alone():
    """The table in pyproject.toml is exactly what other rooms import: opening a door is a change of that table."""
    with (PACKAGE.parent / "pyproject.toml").open("rb") as file:
        listed = tomllib.load(file)["tool"]["plimsoll"]["doors"]
    graph = grimp.build_graph("plimsoll", cache_dir=None)
    used = {
        (imported.split(".")[1], imported.split(".", 2)[2])
        for module in graph.modules
        for imported in graph.find_modules_directly_imported_by(module)
        if module.count(".") and imported.count(".") > 1 and module.split(".")[1] != imported.split(".")[1]
    }
    assert used == {(room, module) for room, modules in listed.items() for module in modules}


def test_no_room_imports_anything_by_itself():
    for path in PACKAGE.glob("*/__init__.py"):
        tree = ast.parse(path.read_text("utf-8"))
        assert not [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)], path
