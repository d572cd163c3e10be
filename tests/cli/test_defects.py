"""An unexpected error has exit status 70, never 1, which means that a threshold was crossed."""

import subprocess
import sys
from pathlib import Path

import pytest

from plimsoll.cli import cli
from plimsoll.cli.commands import rules


class Panic(BaseException):
    """As polars raises one."""


def recurse():
    recurse()


def fail(error):
    raise error


@pytest.mark.parametrize(
    ("call", "output"),
    [
        (lambda: fail(KeyError("start_ms")), "this is a defect of Plimsoll (KeyError: 'start_ms'); please report it"),
        (lambda: fail(Panic("a\x1b[1m\nb")), r"this is a defect of Plimsoll (Panic: a\x1b[1m\nb)"),
        (lambda: fail(MemoryError()), "out of memory: read fewer or smaller files."),
        (recurse, "this is a defect of Plimsoll (RecursionError: maximum recursion depth exceeded"),
    ],
)
def test_any_other_error_is_a_defect(capsys, monkeypatch, call, output):
    monkeypatch.setattr(rules, "load", lambda *_: call())
    monkeypatch.setattr(sys, "argv", ["plimsoll", "rules", "list"])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    out, err = capsys.readouterr()
    assert (ended.value.code, out) == (70, "")
    first, versions, *trace = err.splitlines()
    assert first.startswith(f"plimsoll: {output}")
    assert versions.startswith("plimsoll ")
    assert trace[0] == "Traceback (most recent call last):"
    assert len(trace) < 150
    assert "\x1b" not in err


@pytest.mark.parametrize("module", ["typer", "plimsoll.rules.load"])
def test_an_installation_that_is_not_whole(module):
    code = f"import sys; sys.modules[{module!r}] = None; from plimsoll.__main__ import main; main()"
    done = subprocess.run([sys.executable, "-c", code, "rules", "list"], capture_output=True, text=True, check=False)
    assert done.returncode == 70
    assert f"{module}" in done.stderr.splitlines()[-1]


def test_set_up_has_the_same_status():
    code = "import start; start.set_up = lambda _: 1 / 0; import sys; sys.exit(start.main([]))"
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 70
    assert done.stderr.startswith(
        "start.py: this is a defect of Plimsoll; please report it with these lines:\nTraceback"
    )


def test_the_status_is_in_the_help(plimsoll):
    assert "70 a defect of Plimsoll" in " ".join(plimsoll("--help").out.split())
