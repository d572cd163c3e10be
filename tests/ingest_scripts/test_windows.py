"""ingest/windows: each script parses, calls only what Windows PowerShell 5.1 has, and reads no variable that is not set.

A grammar for PowerShell stands in for PowerShell, which is not where these tests run.
"""

import re
from pathlib import Path

import pytest
import tree_sitter_powershell
from tree_sitter import Language, Node, Parser

FOLDER = Path(__file__).parents[2] / "ingest" / "windows"
SCRIPTS = sorted(FOLDER.glob("*.ps1"))
# What the scripts may call: cmdlets of Windows PowerShell 5.1 and of its module ScheduledTasks, and programs of Windows.
CMDLETS = {
    "Add-Content", "Copy-Item", "Get-ChildItem", "Get-Command", "Get-Content", "Get-Date", "Get-Item", "Join-Path",
    "Move-Item", "New-Item", "New-TimeSpan", "Out-String", "Remove-Item", "Set-StrictMode", "Sort-Object", "Test-Path",
    "Where-Object", "Write-Output", "New-ScheduledTaskAction", "New-ScheduledTaskPrincipal",
    "New-ScheduledTaskSettingsSet", "New-ScheduledTaskTrigger", "Register-ScheduledTask", "relog.exe",
}  # fmt: skip
# Variables that PowerShell sets, or that change how it works.
AUTOMATIC = {"_", "null", "true", "false", "lastexitcode", "psscriptroot", "erroractionpreference"}
VERBS = {"Convert", "Copy", "Get", "Import", "Register", "Send", "Test", "Write"}  # of those that PowerShell approves
# Operators that came after 5.1; the program would not even start there.
LATER = re.compile(r"\?\?|&&|\|\||\?\.|-AsJson|-Parallel")


def parsed(text: str) -> Node:
    return Parser(Language(tree_sitter_powershell.language())).parse(text.encode()).root_node


def nodes(node: Node, kind: str) -> list[Node]:
    result = [node] if node.type == kind else []
    return [*result, *(inner for child in node.children for inner in nodes(child, kind))]


def texts(node: Node, kind: str) -> list[str]:
    return [item.text.decode() for item in nodes(node, kind) if item.text]


def parameters(node: Node) -> list[str]:
    """The names of the parameters of a script and its functions."""
    named = [child for item in nodes(node, "script_parameter") for child in item.children if child.type == "variable"]
    return [parameter.text.decode().lstrip("$") for parameter in named if parameter.text]


def mistakes(text: str) -> list[str]:
    root = parsed(text)
    result = [f"does not parse: {item}" for item in texts(root, "ERROR")] + (
        ["is incomplete"] if root.has_error else []
    )
    functions = set(texts(root, "function_name"))
    called = {name for name in texts(root, "command_name") if not name.startswith("$")}
    result += [f"{name} is no command" for name in sorted(called - functions - CMDLETS)]
    result += [f"{name} is never called" for name in sorted(functions - called)]
    result += [f"{name}: not an approved verb" for name in sorted(functions) if name.partition("-")[0] not in VERBS]
    variables = [re.sub(r"^[$@]\{?|\}?$", "", item).lower() for item in texts(root, "variable")]
    set_ = {
        re.sub(r"^\[[\w.\[\]]+\]\s*", "", left).strip().lstrip("$").lower()
        for left in texts(root, "left_assignment_expression")
    }
    set_ |= {name.lower() for name in parameters(root)}
    set_ |= {texts(node, "variable")[0].lstrip("$").lower() for node in nodes(root, "foreach_statement")}
    unknown = {variable for variable in variables if not variable.startswith("env:")} - set_ - AUTOMATIC
    result += [f"${variable} is never set" for variable in sorted(unknown)]
    code = re.sub(r"(?s:<#.*?#>)|#.*|'[^']*'", "", text)
    result += [f"{item} came after 5.1" for item in LATER.findall(code)]
    if not text.isascii():
        result.append("has characters that Windows PowerShell reads in the code page of the host")
    return result


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_a_script_has_no_mistake_that_can_be_seen_without_powershell(script):
    text = script.read_text(encoding="utf-8")
    assert mistakes(text) == []
    assert "Set-StrictMode" in text
    assert "$ErrorActionPreference = 'Stop'" in text


@pytest.mark.parametrize(
    ("written", "instead", "words"),
    [
        ("foreach ($log in $logs) {", "foreach ($log in $logs) ", "does not parse"),
        ("$failed += 1", "$failed += $one", "$one is never set"),
        ("Add-Content -LiteralPath $list", "Add-Contents -LiteralPath $list", "Add-Contents is no command"),
        ("$done = Send-Log $log", "$done = 1", "Send-Log is never called"),
        ("$failed = 0", "$failed = $null ?? 0", "came after 5.1"),
        ("is still written;", "is still being written \u2013", "code page"),
    ],
)
def test_a_mistake_would_be_found(written, instead, words):
    text = (FOLDER / "Send-PerfmonLog.ps1").read_text(encoding="utf-8")
    assert written in text
    assert any(words in mistake for mistake in mistakes(text.replace(written, instead)))


def test_the_page_names_every_parameter_and_the_task_calls_the_script():
    page = (FOLDER / "README.md").read_text(encoding="utf-8")
    for script in SCRIPTS:
        root = parsed(script.read_text(encoding="utf-8"))
        (block,) = [node for node in nodes(root, "param_block") if node.start_point.column == 0]
        named = parameters(block)
        assert [name for name in named if f"-{name}" not in page and script.stem.startswith("Send")] == []
    register = (FOLDER / "Register-SendPerfmonLog.ps1").read_text(encoding="utf-8")
    assert "'Send-PerfmonLog.ps1'" in register
