"""Builds the programs: `python3 -m plimsoll.native.build [NAME...]`, all of them without names.

Needs only Python, so that servers can be built before Plimsoll is installed.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from plimsoll.model.atomic import atomic_write
from plimsoll.model.errors import Unusable
from plimsoll.native import folders
from plimsoll.native.programs import PKG_CONFIG, PROGRAMS, Program

_LOG_LINES_SHOWN = 3


def build(program: Program) -> Path:
    """The path of a program, which is built if it is missing. Unusable if it cannot be built.

    The file appears only when it is complete, even if two processes build it at once.
    """
    target = program.path
    if target.is_file():
        return target
    environment = _environment(program)
    log = folders.cache() / "native" / "logs" / f"{target.parent.name}.log"
    try:
        for folder in (target.parent, log.parent):
            folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".partial-", dir=target.parent) as partial:
            made = Path(partial, target.name)
            status = _run(["go", "build", "-o", str(made), *program.arguments], program, environment, log)
            if status != 0:
                raise Unusable(f"{program.title} could not be built: {_last_lines(log)}; {log} has the whole log")
            made.replace(target)
    except OSError as error:
        raise Unusable(f"{error.filename or target.parent}: cannot be written: {error.strerror or error}") from None
    return target


def _environment(program: Program) -> dict[str, str]:
    """The environment for Go. Unusable if a tool is missing or too old."""
    if program.cgo and sys.platform == "win32":
        raise Unusable(f"{program.title} is not built on Windows; use docker compose")
    environment = {
        **os.environ,
        # Ignore what the user has set for other Go projects.
        "GOFLAGS": "",
        "GOWORK": "off",
        "GOOS": program.system,
        "GOARCH": "",
        "CGO_ENABLED": "1" if program.cgo else "0",
    }
    _check_go(program, environment)
    if program.cgo:
        _require(_output(["go", "env", "CC"], program.folder, environment), "A C compiler", program, "gcc, for example")
    if program.rust:
        _require("cargo", "Rust (cargo)", program, "Debian's package is cargo")
        pkg_config = build(PKG_CONFIG)
        environment["PKG_CONFIG"] = str(pkg_config)
        environment["PATH"] = os.pathsep.join([str(pkg_config.parent), environment.get("PATH", "")])
        # libflux pins an old Rust, and treats warnings of newer ones as errors.
        if rustup := shutil.which("rustup"):
            active = _output([rustup, "show", "active-toolchain"], program.folder, environment).split()
            environment.setdefault("RUSTUP_TOOLCHAIN", active[0] if active else "stable")
        environment["RUSTC_WRAPPER"] = str(_lenient_rustc(pkg_config.parent))
    return environment


def _lenient_rustc(folder: Path) -> Path:
    """A script that calls the given compiler and allows warnings. RUSTFLAGS would not reach code that is compiled for
    the build itself.
    """
    script = folder / "lenient-rustc"
    with atomic_write(script) as partial:
        partial.write_text('#!/bin/sh\nexec "$@" --cap-lints allow\n', "utf-8")
        partial.chmod(0o755)
    return script


def _require(tool: str, what: str, program: Program, hint: str) -> None:
    if not shutil.which(tool):
        raise Unusable(f"{what} is needed to build {program.title}; install it ({hint}), or use docker compose")


def _check_go(program: Program, environment: dict[str, str]) -> None:
    wanted = f"Go {program.go_version} or later is needed to build {program.title}"
    if not shutil.which("go"):
        raise Unusable(f"{wanted}; install it, or use docker compose")
    # Go 1.21 and later downloads the version that go.mod needs. If that is switched off, this prints nothing.
    version = _output(["go", "env", "GOVERSION"], program.folder, environment)
    if _numbers(version) < _numbers(program.go_version):
        found = _output(["go", "version"], Path(tempfile.gettempdir()), environment) or "another"
        raise Unusable(f"{wanted} and this is {found}; install a newer one, or use docker compose")


def _numbers(version: str) -> list[int]:
    return [int(part) for part in re.findall(r"\d+", version)]


def _output(command: Sequence[str], folder: Path, environment: dict[str, str]) -> str:
    """The output of a command; empty if it fails."""
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""


def _run(command: Sequence[str], program: Program, environment: dict[str, str], log: Path) -> int:
    """Run a build in the program's module, with progress on a terminal. Returns the exit status."""
    shown = sys.stderr.isatty()
    started = time.monotonic()
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            cwd=program.folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            # Its own process group, so that compilers it starts can be ended too.
            start_new_session=True,
        )
        try:
            while True:
                try:
                    return process.wait(timeout=0.5)
                except subprocess.TimeoutExpired:
                    if shown:
                        minutes, seconds = divmod(int(time.monotonic() - started), 60)
                        line = f"building {program.title} {program.version} (minutes, once): {minutes}:{seconds:02}"
                        print(f"\r\033[K{line}", end="", file=sys.stderr, flush=True)
        finally:
            if shown:
                print("\r\033[K", end="", file=sys.stderr, flush=True)
            _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is not None:
        return
    if sys.platform == "win32":
        process.terminate()
    else:
        os.killpg(process.pid, signal.SIGTERM)
    process.wait()


def _last_lines(log: Path) -> str:
    lines = [line.strip() for line in log.read_text("utf-8", errors="replace").splitlines() if line.strip()]
    return " / ".join(lines[-_LOG_LINES_SHOWN:]) or "the log is empty"


def main(names: Sequence[str]) -> int:
    """Build the programs and print their paths. Returns the exit status."""
    if unknown := set(names) - set(PROGRAMS):
        print(
            f"plimsoll.native.build: unknown: {', '.join(sorted(unknown))}; there are {', '.join(PROGRAMS)}",
            file=sys.stderr,
        )
        return 2
    try:
        for name in names or PROGRAMS:
            print(build(PROGRAMS[name]), flush=True)
    except Unusable as error:
        print(f"plimsoll.native.build: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("plimsoll.native.build: interrupted", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
