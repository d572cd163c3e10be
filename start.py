#!/usr/bin/env python3
"""Sets Plimsoll up in .venv and runs it. Needs Python 3.11 or later, and nothing else.

python3 start.py [--no-serve]  installs what install/requirements.txt pins, then runs `plimsoll demo`
python3 start.py test [ARG...] installs what install/requirements-test.txt pins, then runs every check;
                               the arguments go to pytest

What is installed already is left alone until a lock file or pyproject.toml changes.
This file is parsed by older Pythons too, so that they can say what is wrong.
"""

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import traceback
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO

if sys.version_info < (3, 11):
    sys.stderr.write(
        "start.py: Plimsoll needs Python 3.11 or later and this is %d.%d (%s); call start.py with a newer one\n"
        % (sys.version_info[0], sys.version_info[1], sys.executable)
    )
    sys.exit(2)

USAGE = "usage: python3 start.py [--no-serve | test [PYTEST_ARGUMENT...]]"
ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
SCRIPTS = VENV / ("Scripts" if os.name == "nt" else "bin")
STAMP = VENV / "installed.txt"  # what is installed; there only while all of it is

# A lock includes the ones before it, so the last one is installed.
TO_RUN = ["install/requirements.txt"]
TO_TEST = ["install/requirements.txt", "install/requirements-test.txt"]

CHECKS = [
    ["ruff", "check", "."],
    ["ruff", "format", "--check", "."],
    ["lint-imports"],
    ["pytest"],
]
# A file of tests at a time, in the order of their names. Many tests wait for a server, so that two processes for each
# core take less time than one. A later -n0 switches it off.
WORKERS = 2 * (os.cpu_count() or 1)
IN_PARALLEL = ["-n", str(WORKERS), "--dist", "loadfile", "--no-loadscope-reorder"]
MEANWHILE = ["basedpyright"]  # takes half a minute, so it runs while the others do


class Unable(Exception):
    """The error that set-up cannot continue; the message says, in one line, what failed and what to do."""


def say(line: str) -> None:
    """Print one line of progress."""
    print(line, file=sys.stderr, flush=True)


def tool(name: str) -> str:
    """Return the path of a program in .venv."""
    return str(SCRIPTS / (name + (".exe" if os.name == "nt" else "")))


def call(command: list[str], output: "IO[bytes] | None" = None) -> int:
    """Run a program of .venv in the checkout, as if .venv were activated; return its exit status.

    Its output goes to `output`, if given.
    """
    env = dict(os.environ, VIRTUAL_ENV=str(VENV), PATH=os.pathsep.join([str(SCRIPTS), os.environ.get("PATH", "")]))
    env.pop("PYTHONHOME", None)
    env.pop("PYTHONDONTWRITEBYTECODE", None)  # else each of many processes would compile the same modules anew
    command = [tool(command[0]), *command[1:]]
    stderr = subprocess.STDOUT if output else None
    with subprocess.Popen(command, cwd=ROOT, env=env, stdout=output, stderr=stderr) as process:
        status = wait_for(process)
    return status if status >= 0 else 128 - status


def wait_for(process: "subprocess.Popen[bytes]") -> int:
    """Return the exit status of a program. Ctrl-C also reaches the program, which gets time to end in order."""
    try:
        return process.wait()
    except KeyboardInterrupt:
        try:
            process.wait()
        except KeyboardInterrupt:
            process.terminate()
        raise


def venv_version() -> "str | None":
    """Return the version of .venv's Python; None if there is none, if it does not run, or if it has no pip."""
    ask = "import pip, sys; print('%d.%d' % sys.version_info[:2])"
    try:
        answer = subprocess.run([tool("python"), "-I", "-c", ask], capture_output=True, text=True, check=False)
    except OSError:
        return None
    return answer.stdout.strip() if answer.returncode == 0 else None


def make_venv() -> None:
    """Make .venv again, deleting any earlier one."""
    missing = [name for name in ("venv", "ensurepip") if importlib.util.find_spec(name) is None]
    if missing and sys.base_prefix == "/usr" and shutil.which("apt"):
        sudo = "" if os.geteuid() == 0 else "sudo "
        command = "%sapt install python%d.%d-venv" % (sudo, *sys.version_info[:2])
        raise Unable("this Python cannot make environments (no %s); run: %s" % (missing[0], command))
    if missing:
        raise Unable(
            "this Python (%s) cannot make environments (no %s); install the package of your system that holds it, "
            "or Python from python.org" % (sys.executable, missing[0])
        )
    say("Making .venv with Python %d.%d.%d" % sys.version_info[:3])
    command = [sys.executable, "-m", "venv", "--clear", str(VENV)]
    completed = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if completed.returncode != 0:
        why = (completed.stdout.strip() or "no reason given").splitlines()[-1]
        raise Unable(
            "making .venv failed (%s); check the free disk space and who owns .venv, then run this again" % why
        )


def pip_install(values: str, *arguments: str) -> None:
    """Install into .venv; pip itself reports errors."""
    say("Installing " + values)
    pip = ["python", "-m", "pip", "--disable-pip-version-check", "--no-input", "install", "--quiet"]
    if call([*pip, *arguments]) != 0:
        raise Unable(
            "installing %s failed, see pip's words above; check the network and the free disk space, "
            "then run this again" % values
        )


def set_up(locks: list[str]) -> None:
    """Install into .venv what the locks pin, and this checkout; do nothing if that is done already."""
    version = venv_version()
    installed = set(STAMP.read_text("utf-8").splitlines()) if STAMP.is_file() else set[str]()
    place = {"python %s" % version, "checkout %s" % ROOT}  # the programs in .venv name both in their first line
    if version is None or not place <= installed:
        make_venv()
        version = venv_version()
        installed = set[str]()
    entries = ["python %s" % version, "checkout %s" % ROOT]
    for name in [*locks, "pyproject.toml"]:
        entries.append("%s %s" % (name, hashlib.sha256((ROOT / name).read_bytes()).hexdigest()))
    if installed.issuperset(entries):
        return
    STAMP.unlink(missing_ok=True)  # interrupted from here on, .venv is made anew next time
    pip_install("the packages that %s pins" % locks[-1], "--require-hashes", "-r", locks[-1])
    pip_install("plimsoll", "--no-deps", "--no-build-isolation", "-e", ".")
    STAMP.write_text("\n".join(entries) + "\n", "utf-8")


def test(arguments: list[str]) -> int:
    """Run all checks, even if earlier ones fail; return 1 if any failed."""
    failed: list[str] = []
    with tempfile.TemporaryFile() as output, ThreadPoolExecutor(1) as background:
        meanwhile = background.submit(call, MEANWHILE, output)
        for check in CHECKS:
            name = " ".join(check)
            say("== " + name)
            if call([*check, *IN_PARALLEL, *arguments] if check == ["pytest"] else check) != 0:
                failed.append(name)
        say("== " + " ".join(MEANWHILE))
        if meanwhile.result() != 0:
            failed.append(" ".join(MEANWHILE))
        output.seek(0)
        sys.stderr.write(output.read().decode("utf-8", "replace"))
    say("Failed: " + ", ".join(failed) if failed else "All checks passed")
    return 1 if failed else 0


def main(arguments: list[str]) -> int:
    """Return the exit status: the status of the main job, or 2 if the job could not be started."""
    if arguments in (["-h"], ["--help"]):
        print(USAGE)
        return 0
    if arguments and arguments[0] != "test" and arguments != ["--no-serve"]:
        print(USAGE, file=sys.stderr)
        return 2
    try:
        if arguments and arguments[0] == "test":
            set_up(TO_TEST)
            return test(arguments[1:])
        set_up(TO_RUN)
        return call(["plimsoll", "demo", *arguments])
    except Unable as error:
        say("start.py: %s" % error)
    except OSError as error:
        say("start.py: %s; mend that or delete .venv, then run this again" % error)
    except KeyboardInterrupt:
        return 130
    except Exception:
        say("start.py: this is a defect of Plimsoll; please report it with these lines:")
        traceback.print_exc()
        return 70
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
