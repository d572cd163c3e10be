"""`plimsoll service`: installs `plimsoll up` as a service of the system, or writes the files for that."""

import itertools
import logging
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Sequence
from pathlib import Path, PureWindowsPath
from typing import Annotated, Any

import typer

from plimsoll.cli import args
from plimsoll.cli.console import print_line, print_notice, print_plain
from plimsoll.cli.outputs import STDOUT, write_text
from plimsoll.model.errors import Unreachable, Unusable
from plimsoll.serve.listen import Listen
from plimsoll.up import log_lines
from plimsoll.up.service import installation
from plimsoll.up.service.installation import Command, Step

_UNUSABLE, _UNREACHABLE, _DEFECT = 2, 3, 70
_log = logging.getLogger("plimsoll.service")
_HOMES = (Path("/home"), Path("/root"))
UpArguments = Annotated[list[str] | None, typer.Argument(metavar="[OPTION]", help="Options of plimsoll up, after --.")]
DryRunOption = Annotated[bool, typer.Option("--dry-run", help="Show what would be done, and do nothing.")]
app = args.make_command_app(
    "Have the service manager of this system run plimsoll up, or write the file of a unit or of an agent."
)


@app.command(
    "install",
    epilog=args.format_examples(
        "plimsoll service install -- --listen 0.0.0.0:8087", "plimsoll service install --dry-run"
    ),
)
def install(arguments: UpArguments = None, dry_run: DryRunOption = False) -> None:
    """Make plimsoll up a service that starts with the system, and start it."""
    arguments = arguments or []
    steps = _plan(arguments)
    if dry_run:
        for step in steps:
            print_plain(f"{step}\n")
        return
    if sys.platform == "win32":
        import ctypes

        if not ctypes.windll.shell32.IsUserAnAdmin():
            raise Unusable("only an administrator can do this: run it in a command prompt that was opened as one")
    elif os.geteuid() != 0:
        raise Unusable("only root can do this: call it with sudo")
    if why := _explain_unreachable(sys.executable, sys.prefix, sys.base_prefix):
        raise Unusable(why)
    for step in steps:
        _carry_out(step)
    listen = _parse_listen_address(arguments)
    address = listen.url(tls=any(argument.split("=")[0] == "--cert" for argument in arguments))
    print_line(f"Plimsoll is a service now, and runs: {address}")
    if not listen.is_loopback:
        print_notice(f"others reach it when the firewall lets them in at port {listen.port} (docs/up.md)")


@app.command("systemd", epilog=args.format_examples("plimsoll service systemd"))
def systemd(
    arguments: UpArguments = None,
    out: Path = args.path_option(Path("-"), "--out", "The file to write, or - for stdout."),
) -> None:
    """Write the unit file of a systemd service, for you to install."""
    command = _build_up_command(arguments or [])
    _write(installation.format_systemd_unit(command), out)
    if why := _explain_unreachable(command.program[0]):
        print_notice(f"{why}, and write the file with that one")


@app.command("launchd", epilog=args.format_examples("plimsoll service launchd"))
def launchd(
    arguments: UpArguments = None,
    out: Path = args.path_option(Path("-"), "--out", "The file to write, or - for stdout."),
) -> None:
    """Write the file of a launchd agent (macOS), for you to install."""
    _write(installation.format_launchd_agent(_build_up_command(arguments or []), Path.home()), out)


@app.command("run", hidden=True)
def run(
    context: typer.Context, log: Path = args.path_option(..., "--log", "The log."), arguments: UpArguments = None
) -> None:
    """Run as a Windows service; only the service manager can call this command.

    The service manager waits only 30 s for the process to answer, so it answers before it imports slow modules.
    """
    from plimsoll.up.service import control_events
    from plimsoll.up.service.windows_service import NAME, Service

    streams = sys.stdout, sys.stderr
    try:
        service = Service(
            NAME,
            lambda: _run_up(context.find_root().command.main, arguments or [], log),
            control_events.to_stop.set,
            control_events.to_reload.set,
        )
        # A service has no console; output of the start goes to a file beside the log.
        with log.with_name("started.txt").open("w", encoding="utf-8") as output:
            sys.stdout = sys.stderr = output
            service.serve()
    except OSError as error:
        raise Unusable(f"Windows alone can start this, as a service: {error}") from None
    finally:
        sys.stdout, sys.stderr = streams


def _run_up(plimsoll: Callable[..., Any], arguments: Sequence[str], log: Path) -> int:
    log_lines.set_up(log)
    try:
        return plimsoll(["up", "--log", str(log), *arguments], prog_name="plimsoll", standalone_mode=False) or 0
    except (Unusable, Unreachable, typer.TyperException) as error:
        _log.critical("%s", error)
        return _UNREACHABLE if isinstance(error, Unreachable) else _UNUSABLE
    except BaseException:  # panics of polars are no Exception
        _log.exception("a defect of Plimsoll")
        return _DEFECT


def _plan(arguments: Sequence[str]) -> list[Step]:
    """Return the steps that install plimsoll up as a service on this system. Raise Unusable if that is not possible."""
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
    return installation.plan_systemd(_build_up_command(arguments))


def _explain_unreachable(*places: str) -> str:
    """Return why the service's user may not be able to run what is at these paths; empty without a reason."""
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
    """Write the file or run the command of an installation step. Raise Unusable if this fails."""
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


def _parse_listen_address(arguments: Sequence[str]) -> Listen:
    named = [argument.partition("=")[2] for argument in arguments if argument.startswith("--listen=")]
    named += [value for option, value in itertools.pairwise(arguments) if option == "--listen"]
    return Listen.parse(named[-1]) if named else Listen()


def _build_up_command(arguments: Sequence[str]) -> Command:
    """Return the command line that runs `plimsoll up` from this installation, with these arguments."""
    script = Path(sysconfig.get_path("scripts")) / ("plimsoll.exe" if sys.platform == "win32" else "plimsoll")
    return Command([str(script)] if script.is_file() else [sys.executable, "-m", "plimsoll"], "--store", arguments)


def _write(text: str, out: Path) -> None:
    if out == STDOUT:
        print_plain(text)
    else:
        write_text(out, text)
