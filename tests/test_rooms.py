"""What holds of the rooms as a whole."""

import ast
import re
from pathlib import Path

import plimsoll

PACKAGE = Path(plimsoll.__file__).parent
OPTION = re.compile(r"(?<![\w-])--[a-z]")
# These call other programs.
CALLERS = {"native/stack.py", "native/influx.py", "native/build.py"}


def said(path: Path) -> list[str]:
    """The texts of a module but for its docstrings."""
    tree = ast.parse(path.read_text("utf-8"))
    docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    texts = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    return [node.value for node in texts if id(node) not in docs]


def test_no_room_below_the_command_line_names_an_option():
    modules = {path.relative_to(PACKAGE).as_posix(): path for path in PACKAGE.rglob("*.py")}
    below = {name: path for name, path in modules.items() if not name.startswith("cli/") and name not in CALLERS}
    assert len(below) > 300
    assert {name: text for name, path in below.items() for text in said(path) if OPTION.search(text)} == {}
    templates = [
        path for path in PACKAGE.rglob("*.j2") if re.search(r">\s*--[a-z]| --[a-z]+ [A-Z]", path.read_text("utf-8"))
    ]
    assert templates == []
