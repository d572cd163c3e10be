"""`plimsoll service`: has a service manager run `plimsoll up`, or writes the files for one."""

import itertools
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path, PureWindowsPath

from plimsoll.cli.console import print_line, print_notice, print_plain
from plimsoll.cli.outputs import STDOUT, write_text
from plimsoll.model.errors import Unusable
from plimsoll.serve.listen import Listen
from plimsoll.up.service import installation
from plimsoll.up.service.installation import Command, Step

_HOMES = (Path("/home"), Path("/root"))


def systemd(arguments: Sequence[str], out: Path) -> None:
    """Write a unit of systemd."""
    command = _up_command(arguments)
    _write(installation.systemd_unit(command), out)
    if why := _unreachable(command.program[0]):
        print_notice(f"{why}, and write the file with that one")


def launchd(arguments: Sequence[str], out: Path) -> None:
    """Write an agent of launchd (macOS)."""
    _write(installation.launchd_agent(_up_command(arguments), Path.home()), out)


def install(arguments: Sequence[str], *, dry_run: bool) -> None:
    """Have the service manager of this system run `plimsoll up` from now on."""
    steps = _plan(arguments)
    if dry_run:
        for step in steps:
            print_plain(f"{step}\n")
        return
    _check_rights()
    if why := _unreachable(sys.executable, sys.prefix, sys.base_prefix):
        raise Unusable(why)
    for step in steps:
        _carry_out(step)
    listen = _listen_address(arguments)
    address = listen.url(tls=any(argument.split("=")[0] == "--cert" for argument in arguments))
    print_line(f"Plimsoll is a service now, and runs: {address}")
    if not listen.is_loopback:
        print_notice(f"others reach it when the firewall lets them in at port {listen.port} (docs/up.md)")


def _plan(arguments: Sequence[str]) -> list[Step]:
    if Path(sys.argv[0]).suffix == ".pyz":
        raise Unusable(
            f"{sys.argv[0]}: a zip application unpacks itself into the home folder of its user, which a service has "
            "not; install Plimsoll into an environment, or on Windows take the folder (docs/install.md)"
        )
    if sys.platform == "darwin":
        raise Unusable("macOS runs agents of its users: plimsoll service launchd writes one; docs/up.md has the calls")
    if sys.platform == "win32":
        in_environment = sys.prefix != sys.base_prefix
        program = getattr(sys, "_base_executable", sys.executable) if in_environment else sys.executable
        launcher = PureWindowsPath(sys.executable) if in_environment else None
        folder = PureWindowsPath(os.environ.get("PROGRAMDATA", "C:\\ProgramData")) / "Plimsoll"
        command = Command([program, "-P", "-m", "plimsoll"], "--store", arguments)
        return installation.plan_windows(command, folder, launcher)
    return installation.plan_systemd(_up_command(arguments))


def _check_rights() -> None:
    """Unusable if the user may not install services."""
    if sys.platform == "win32":
        import ctypes  # noqa: PLC0415  for Windows alone

        if not ctypes.windll.shell32.IsUserAnAdmin():
            raise Unusable("only an administrator can do this: run it in a command prompt that was opened as one")
    elif os.geteuid() != 0:
        raise Unusable("only root can do this: call it with sudo")


def _unreachable(*places: str) -> str:
    """Why the user of the service cannot run the program; empty if nothing says that it cannot."""
    homes = (Path(os.environ.get("SYSTEMDRIVE", "C:") + "\\Users"),) if sys.platform == "win32" else _HOMES
    fitting = "C:\\Program Files\\Plimsoll" if sys.platform == "win32" else "/opt/plimsoll"
    for place in map(Path, places):
        if any(home in place.parents for home in homes):
            return (
                f"{place}: is in a home folder, where the user of the service may not be able to run it; install "
                f"Plimsoll and its Python where everyone can read them, such as {fitting}"
            )
    return ""


def _carry_out(step: Step) -> None:
    if step.path:
        try:
            step.path.parent.mkdir(parents=True, exist_ok=True)
            step.path.write_text(step.text, encoding="utf-8")
        except OSError as error:
            raise Unusable(f"{step}: {error.strerror or error}") from None
        return
    program = shutil.which(step.call[0], path=os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/sbin"]))
    if program is None:
        raise Unusable(f"{step.call[0]}: is not here, and Plimsoll cannot be made a service without it")
    done = subprocess.run(
        [program, *step.call[1:]],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode and done.returncode not in step.fine:
        output = " ".join((done.stderr or done.stdout).split()) or f"status {done.returncode}"
        raise Unusable(f"{step}: {output}")


def _listen_address(arguments: Sequence[str]) -> Listen:
    named = [argument.partition("=")[2] for argument in arguments if argument.startswith("--listen=")]
    named += [value for option, value in itertools.pairwise(arguments) if option == "--listen"]
    return Listen.parse(named[-1]) if named else Listen()


def _up_command(arguments: Sequence[str]) -> Command:
    """The call of this installation's `plimsoll up`."""
    script = Path(sysconfig.get_path("scripts")) / ("plimsoll.exe" if sys.platform == "win32" else "plimsoll")
    return Command([str(script)] if script.is_file() else [sys.executable, "-m", "plimsoll"], "--store", arguments)


def _write(text: str, out: Path) -> None:
    if out == STDOUT:
        print_plain(text)
    else:
        write_text(out, text)
