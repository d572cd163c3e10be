"""start.py sets up once, again when it must, and says in one line what stops it. No test here needs a network."""

import ast
import importlib.util
import os
import re
import shutil
import signal
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[1]
LOCKS = ("install/requirements.txt", "install/requirements-test.txt")

# Builds an editable wheel of one module, so that pip needs to fetch nothing.
BACKEND = """\
import zipfile

def build_editable(folder, config_settings=None, metadata_directory=None):
    name = "plimsoll-0-py3-none-any.whl"
    with zipfile.ZipFile(folder + "/" + name, "w") as wheel:
        wheel.writestr("stand_in.py", "import sys\\ndef main():\\n    print(sys.argv[1:])\\n    return 7\\n")
        info = "plimsoll-0.dist-info/"
        wheel.writestr(info + "METADATA", "Metadata-Version: 2.1\\nName: plimsoll\\nVersion: 0\\n")
        wheel.writestr(info + "WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        wheel.writestr(info + "entry_points.txt", "[console_scripts]\\nplimsoll = stand_in:main\\n")
        wheel.writestr(info + "RECORD", "")
    return name
"""


@pytest.fixture
def checkout(tmp_path):
    """A checkout in which start.py is the real one; its path is not an easy one."""
    folder = tmp_path / "a check-out with ümlaut"
    folder.mkdir()
    shutil.copy(ROOT / "start.py", folder)
    (folder / "install").mkdir()
    for lock in LOCKS:
        (folder / lock).write_text("# nothing\n")
    (folder / "pyproject.toml").write_text(
        '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
    )
    (folder / "backend.py").write_text(BACKEND)
    return folder


def start(checkout, *arguments, **env):
    command = [sys.executable, "start.py", *arguments]
    return subprocess.run(
        command, cwd=checkout, env={**os.environ, **env}, capture_output=True, text=True, encoding="utf-8", check=False
    )


class Bench:
    """start.py with its seams to the outside replaced: what it would have made, installed and run."""

    def __init__(self, start_py: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
        self.start_py = start_py
        self.venv_made = 0
        self.python: str | None = None
        self.calls: list[list[str]] = []
        self.failing: tuple[str, ...] = ()
        monkeypatch.setattr(start_py, "venv_version", lambda: self.python)
        monkeypatch.setattr(start_py, "make_venv", self._make_venv)
        monkeypatch.setattr(start_py, "call", self._call)

    def _make_venv(self):
        self.venv_made += 1
        self.python = "3.11"
        shutil.rmtree(self.start_py.VENV, ignore_errors=True)
        self.start_py.VENV.mkdir()

    def _call(self, command, output=None):
        self.calls.append(command)
        return 1 if any(word in command for word in self.failing) else 0

    def run(self, *arguments, failing=()):
        """The exit status, what pip was asked to install, and whether .venv was made."""
        self.failing, self.calls, self.venv_made = failing, [], 0
        status = self.start_py.main(list(arguments))
        installed = [call[-1] for call in self.calls if "pip" in call]
        return status, installed, bool(self.venv_made)


@pytest.fixture
def bench(checkout, monkeypatch):
    spec = importlib.util.spec_from_file_location("start_of_checkout", checkout / "start.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return Bench(module, monkeypatch)


def test_sets_up_then_runs_the_demo_and_passes_on_its_status(checkout):
    first = start(checkout)
    assert (first.returncode, first.stdout) == (7, "['demo']\n"), first.stderr
    assert "Making .venv" in first.stderr
    second = start(checkout)
    assert (second.returncode, second.stdout, second.stderr) == (7, "['demo']\n", "")
    assert start(checkout, "--no-serve").stdout == "['demo', '--no-serve']\n"


def test_an_unknown_argument_gets_the_usage(checkout):
    result = start(checkout, "tset")
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr == "usage: python3 start.py [--no-serve | test [PYTEST_ARGUMENT...]]\n"
    assert not (checkout / ".venv").exists()


@pytest.mark.parametrize("module", ["venv", "ensurepip"])
def test_a_missing_module_is_one_line_with_the_command_that_mends_it(checkout, tmp_path, module):
    (tmp_path / "sitecustomize.py").write_text(f"import sys; sys.modules['{module}'] = None\n")
    result = start(checkout, PYTHONPATH=str(tmp_path))
    assert (result.returncode, result.stdout) == (2, "")
    assert re.fullmatch(rf"start\.py: .*\(no {module}\).*\n", result.stderr)
    if sys.base_prefix == "/usr" and shutil.which("apt"):
        version = f"{sys.version_info[0]}.{sys.version_info[1]}"
        assert result.stderr.endswith(f"apt install python{version}-venv\n")


def test_a_venv_that_cannot_be_made_is_one_line(checkout):
    (checkout / ".venv").write_text("in the way")
    result = start(checkout)
    assert result.returncode == 2
    assert "Traceback" not in result.stderr
    assert result.stderr.splitlines()[-1].startswith("start.py: making .venv failed (")


def test_parses_on_older_pythons():
    ast.parse((ROOT / "start.py").read_text(encoding="utf-8"), feature_version=(3, 7))


def test_what_is_installed_is_left_alone(bench):
    assert bench.run() == (0, ["install/requirements.txt", "."], True)
    assert bench.run() == (0, [], False)


@pytest.mark.parametrize("changed", ["install/requirements.txt", "pyproject.toml"])
def test_a_changed_file_is_installed_into_the_same_venv(bench, checkout, changed):
    bench.run()
    (checkout / changed).write_text("# changed\n")
    assert bench.run() == (0, ["install/requirements.txt", "."], False)


def test_the_test_environment_also_serves_the_demo_but_not_the_other_way_round(bench):
    bench.run()
    assert bench.run("test") == (0, ["install/requirements-test.txt", "."], False)
    assert bench.run() == (0, [], False)
    assert bench.run("test") == (0, [], False)


@pytest.mark.parametrize("fails", ["install/requirements.txt", "."])
def test_a_half_finished_install_is_redone_from_scratch(bench, checkout, capsys, fails):
    bench.run()
    (checkout / "install/requirements.txt").write_text("# changed\n")
    status, _, _ = bench.run(failing=(fails,))
    assert status == 2
    assert bench.calls[-1][-1] == fails, "nothing is run after a failed install"
    assert capsys.readouterr().err.splitlines()[-1].startswith("start.py: installing ")
    assert bench.run() == (0, ["install/requirements.txt", "."], True)


@pytest.mark.parametrize("now", [None, "3.12"], ids=["gone", "upgraded"])
def test_a_venv_of_another_python_is_remade(bench, now):
    bench.run()
    bench.python = now
    assert bench.run() == (0, ["install/requirements.txt", "."], True)


def test_a_moved_checkout_gets_a_venv_of_its_own(bench, monkeypatch, tmp_path):
    bench.run()
    stamp = bench.start_py.STAMP.read_text("utf-8")
    assert str(bench.start_py.ROOT) in stamp
    bench.start_py.STAMP.write_text(stamp.replace(str(bench.start_py.ROOT), "/elsewhere"), "utf-8")
    assert bench.run() == (0, ["install/requirements.txt", "."], True)


def test_every_check_runs_whatever_the_first_says_and_pytest_gets_the_arguments(bench, capsys):
    status, _, _ = bench.run("test", "-k", "start", failing=("check", "basedpyright"))
    assert status == 1
    checks = bench.calls[2:]
    assert ["basedpyright"] in checks
    assert [check for check in checks if check != ["basedpyright"]] == [
        ["ruff", "check", "."],
        ["ruff", "format", "--check", "."],
        ["lint-imports"],
        ["pytest", "-n", str(2 * (os.cpu_count() or 1)), "--dist", "loadfile", "--no-loadscope-reorder", "-k", "start"],
    ]
    assert capsys.readouterr().err.splitlines()[-1] == "Failed: ruff check ., basedpyright"


def test_what_the_check_in_the_background_prints_is_shown(bench, capfd, monkeypatch):
    def call(command, output=None):
        (output or sys.stdout.buffer).write(f"{command[0]} speaks\n".encode())
        return 0

    monkeypatch.setattr(bench.start_py, "call", call)
    assert bench.start_py.test([]) == 0
    assert capfd.readouterr().err.splitlines()[-3:] == ["== basedpyright", "basedpyright speaks", "All checks passed"]


def pins(lock: str) -> set[str]:
    return set(re.findall(r"^([a-z][^\\\n]*)", (ROOT / lock).read_text(encoding="utf-8"), re.M))


def test_the_test_lock_includes_the_other_and_repeats_nothing_of_it():
    assert "\n-r requirements.txt\n" in (ROOT / "install/requirements-test.txt").read_text(encoding="utf-8")
    names = [{pin.partition("==")[0] for pin in pins(lock)} for lock in LOCKS]
    assert not names[0] & names[1]


def test_locks_pin_what_pyproject_asks_for_and_name_no_registry():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    groups = project["dependency-groups"]
    assert groups["build"] == project["build-system"]["requires"]
    result = project["project"]["dependencies"] + groups["build"]
    tests = [group for group in groups["test"] if isinstance(group, str)]
    for lock, outcome in (("install/requirements.txt", result), ("install/requirements-test.txt", result + tests)):
        pinned = {pin.partition("==")[0] for text in LOCKS[: LOCKS.index(lock) + 1] for pin in pins(text)}
        names = {name.group().replace(".", "-") for item in outcome if (name := re.match(r"[a-z0-9.-]+", item))}
        assert names <= pinned, f"{lock}: its first lines say how to make it anew"
        assert "://" not in (ROOT / lock).read_text(encoding="utf-8")


@pytest.mark.skipif(sys.platform == "win32", reason="sends the signal of Ctrl-C to a process group")
def test_ctrl_c_lets_the_program_end_in_order(checkout, tmp_path):
    ended = tmp_path / "ended"
    program = (
        "import pathlib, time\n"
        "try:\n    print('runs', flush=True); time.sleep(60)\n"
        f"except KeyboardInterrupt:\n    time.sleep(1); pathlib.Path({str(ended)!r}).touch()"
    )
    code = f"import start, sys; start.tool = lambda _: sys.executable; start.call(['python', '-c', {program!r}])"
    command = [sys.executable, "-c", code]
    with subprocess.Popen(
        command, cwd=checkout, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True
    ) as process:
        assert process.stdout
        process.stdout.readline()
        os.killpg(process.pid, signal.SIGINT)
        assert process.wait(300) != 0
    assert ended.exists()
