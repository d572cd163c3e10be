"""Builds the servers of tests: `python3 -m tests.servers.build [NAME...]`, all of them without names.

Needs only Python, Go, and for InfluxDB a C compiler and Rust (cargo), so that it runs before Plimsoll is installed.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from plimsoll.model.kept import cache_folder
from tests.servers.programs import PKG_CONFIG, PROGRAMS, Program


def build(program: Program) -> Path:
    """Return the path of a program, which is built if it is missing. Raise RuntimeError if it cannot be built.

    The file appears only when it is complete, even if two processes build it at once.
    """
    target = program.path
    if target.is_file():
        return target
    log = cache_folder() / "native" / "logs" / f"{target.parent.name}.log"
    for folder in (target.parent, log.parent):
        folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".partial-", dir=target.parent) as partial, log.open("wb") as output:
        executable = Path(partial, target.name)
        command = ["go", "build", "-o", str(executable), *program.arguments]
        status = subprocess.run(
            command, cwd=program.folder, env=_environment(program), stdout=output, stderr=output, check=False
        ).returncode
        if status != 0:
            raise RuntimeError(f"{program.title} could not be built; {log} says why")
        executable.replace(target)
    return target


def _environment(program: Program) -> dict[str, str]:
    """Return the environment for Go, without what the user has set for other Go projects."""
    environment = {
        **os.environ,
        "GOFLAGS": "",
        "GOWORK": "off",
        "GOOS": program.system,
        "GOARCH": "",
        "CGO_ENABLED": "1" if program.cgo else "0",
    }
    if program.rust:
        pkg_config = build(PKG_CONFIG)
        environment["PKG_CONFIG"] = str(pkg_config)
        environment["PATH"] = os.pathsep.join([str(pkg_config.parent), environment.get("PATH", "")])
        # libflux pins an old Rust, and treats warnings of newer ones as errors.
        if rustup := shutil.which("rustup"):
            active = subprocess.run([rustup, "show", "active-toolchain"], capture_output=True, text=True, check=False)
            environment.setdefault("RUSTUP_TOOLCHAIN", (active.stdout.split() or ["stable"])[0])
        environment["RUSTC_WRAPPER"] = str(_lenient_rustc(pkg_config.parent))
    return environment


def _lenient_rustc(folder: Path) -> Path:
    """Write a script that calls the compiler and allows warnings.

    RUSTFLAGS would not reach code that is compiled for the build itself.
    """
    script = folder / "lenient-rustc"
    script.write_text('#!/bin/sh\nexec "$@" --cap-lints allow\n', "utf-8")
    script.chmod(0o755)
    return script


if __name__ == "__main__":
    for name in sys.argv[1:] or PROGRAMS:
        print(build(PROGRAMS[name]), flush=True)
