"""`plimsoll service`: has a service manager run `plimsoll up`, or writes the files for one."""

import itertools
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath, PureWindowsPath

import psutil

from plimsoll.cli.console import print_line, print_notice, print_plain
from plimsoll.cli.outputs import STDOUT, write_text
from plimsoll.model.errors import Unreachable, Unusable
from plimsoll.serve.listen import Listen
from plimsoll.up.service import files, plans
from plimsoll.up.service.plans import Step
from plimsoll.up.service.windows_service import NAME

_HOMES = (Path("/home"), Path("/root"))


def systemd(arguments: Sequence[str], out: Path) -> None:
    """Write a unit of systemd."""
    command = _command(arguments)
    _write(files.systemd(command), out)
    if why := _unreachable(command.program[0]):
        print_notice(f"{why}, and write the file with that one")


def launchd(arguments: Sequence[str], out: Path) -> None:
    """Write an agent of launchd (macOS)."""
    library = Path.home() / "Library"
    data, log = library / "Application Support" / "plimsoll", library / "Logs" / "plimsoll.log"
    _write(files.launchd(_command(arguments), data, log), out)


def install(arguments: Sequence[str], *, dry_run: bool) -> None:
    """Have the service manager of this system run `plimsoll up` from now on."""
    steps = _installing(arguments)
    if dry_run:
        _show(steps)
        return
    _check_rights()
    if why := _unreachable(sys.executable, sys.prefix, sys.base_prefix):
        raise Unusable(why)
    _carry_out(steps)
    print_line(f"Plimsoll is a service now, and runs: {_address(arguments)}")
    if hint := _firewall(arguments):
        print_notice(hint)


def uninstall(*, dry_run: bool) -> None:
    """End the service and take it away. Its data stay."""
    if sys.platform == "win32":
        steps = plans.no_windows()
    elif sys.platform == "darwin":
        steps = plans.no_launchd(PurePosixPath(Path.home()), os.getuid())
    else:
        steps = plans.no_systemd()
    if dry_run:
        _show(steps)
        return
    _check_rights()
    if _state() is None:
        raise Unusable("Plimsoll is no service here; there is nothing to take away")
    _carry_out(steps)
    print_line(f"Plimsoll is no service any more. Its data are in {_data()} still.")


def status() -> None:
    """Say whether the service runs. Unreachable if it does not."""
    found = _state()
    if found is None:
        raise Unreachable("Plimsoll is no service here: plimsoll service install makes it one")
    text = ", ".join(f"{name} {value}" for name, value in found.items())
    if found["state"] not in ("running", "active"):
        raise Unreachable(f"The service Plimsoll does not run: {text}")
    print_line(f"The service Plimsoll runs: {text}")


def _installing(arguments: Sequence[str]) -> list[Step]:
    if Path(sys.argv[0]).suffix == ".pyz":
        raise Unusable(
            f"{sys.argv[0]}: a zip application unpacks itself into the home folder of its user, which a service has "
            "not; install Plimsoll into an environment, or on Windows take the folder (docs/install.md)"
        )
    if sys.platform == "win32":
        in_environment = sys.prefix != sys.base_prefix
        program = getattr(sys, "_base_executable", sys.executable) if in_environment else sys.executable
        launcher = PureWindowsPath(sys.executable) if in_environment else None
        command = files.Command([program, "-P", "-m", "plimsoll"], "--store", arguments)
        return plans.windows(command, _folder(), launcher)
    if sys.platform == "darwin":
        return plans.launchd(_command(arguments), PurePosixPath(Path.home()), os.getuid())
    return plans.systemd(_command(arguments))


def _folder() -> PureWindowsPath:
    return PureWindowsPath(os.environ.get("PROGRAMDATA", "C:\\ProgramData")) / "Plimsoll"


def _data() -> str:
    if sys.platform == "win32":
        return str(_folder() / "data")
    if sys.platform == "darwin":
        return str(Path.home() / "Library" / "Application Support" / "plimsoll")
    return str(files.STATE_FOLDER)


def _check_rights() -> None:
    """Unusable if the user may not install services."""
    if sys.platform == "win32":
        import ctypes  # noqa: PLC0415  for Windows alone

        if not ctypes.windll.shell32.IsUserAnAdmin():
            raise Unusable("only an administrator can do this: run it in a command prompt that was opened as one")
    elif sys.platform != "darwin" and os.geteuid() != 0:
        raise Unusable("only root can do this: call it with sudo")


def _unreachable(*places: str) -> str:
    """Why the user of the service cannot run the program; empty if nothing says that it cannot."""
    homes = (Path(os.environ.get("SYSTEMDRIVE", "C:") + "\\Users"),) if sys.platform == "win32" else _HOMES
    fitting = "C:\\Program Files\\Plimsoll" if sys.platform == "win32" else "/opt/plimsoll"
    for place in map(Path, places):
        if sys.platform != "darwin" and any(home in place.parents for home in homes):
            return (
                f"{place}: is in a home folder, where the user of the service may not be able to run it; install "
                f"Plimsoll and its Python where everyone can read them, such as {fitting}"
            )
    return ""


def _carry_out(steps: Sequence[Step]) -> None:
    for step in steps:
        try:
            if step.call:
                _call(step)
            elif step.folder:
                Path(step.folder).mkdir(parents=True, exist_ok=True)
            elif step.path and step.text is not None:
                Path(step.path).parent.mkdir(parents=True, exist_ok=True)
                Path(step.path).write_text(step.text, encoding="utf-8")
            elif step.path:
                Path(step.path).unlink(missing_ok=True)
        except OSError as error:
            raise Unusable(f"{step}: {error.strerror or error}") from None


def _call(step: Step) -> None:
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
        said = " ".join((done.stderr or done.stdout).split()) or f"status {done.returncode}"
        raise Unusable(f"{step}: {said}")


def _state() -> Mapping[str, str] | None:
    """The state of the service, in the words of its manager; None if there is none."""
    if sys.platform == "win32":
        try:
            service = psutil.win_service_get(NAME)
            found = {"state": service.status(), "start": service.start_type(), "account": service.username()}
        except psutil.NoSuchProcess:
            return None
        return found
    if sys.platform == "darwin":
        done = _asked("launchctl", "print", f"gui/{os.getuid()}/{files.LAUNCHD_LABEL}")
        states = [line.partition("=")[2].strip() for line in done.splitlines() if line.strip().startswith("state =")]
        return {"state": states[0]} if states else None
    properties = "LoadState,ActiveState,UnitFileState,MainPID"
    done = _asked("systemctl", "show", f"--property={properties}", plans.UNIT.name)
    found = dict(line.split("=", 1) for line in done.splitlines() if "=" in line)
    if found.get("LoadState") != "loaded":
        return None
    return {"state": found["ActiveState"], "start": found["UnitFileState"], "process": found["MainPID"]}


def _asked(*call: str) -> str:
    program = shutil.which(call[0])
    if program is None:
        raise Unusable(f"{call[0]}: is not here, and without it Plimsoll is no service")
    done = subprocess.run([program, *call[1:]], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    return done.stdout


def _listened(arguments: Sequence[str]) -> Listen:
    named = [one.partition("=")[2] for one in arguments if one.startswith("--listen=")]
    named += [value for option, value in itertools.pairwise(arguments) if option == "--listen"]
    return Listen.parse(named[-1]) if named else Listen()


def _address(arguments: Sequence[str]) -> str:
    return _listened(arguments).url(tls=any(one.split("=")[0] == "--cert" for one in arguments))


def _firewall(arguments: Sequence[str]) -> str:
    """How others get through the firewall; empty if none are to."""
    listen = _listened(arguments)
    if listen.is_loopback:
        return ""
    if sys.platform == "win32":
        rule = f"name=Plimsoll dir=in action=allow protocol=TCP localport={listen.port}"
        return f"others reach it when the firewall lets them: netsh advfirewall firewall add rule {rule}"
    return f"others reach it when the firewall lets them in at port {listen.port}"


def _show(steps: Sequence[Step]) -> None:
    for step in steps:
        print_plain(f"{step}\n")


def _command(arguments: Sequence[str]) -> files.Command:
    """The call of this installation's `plimsoll up`."""
    script = Path(sysconfig.get_path("scripts")) / ("plimsoll.exe" if sys.platform == "win32" else "plimsoll")
    return files.Command(
        [str(script)] if script.is_file() else [sys.executable, "-m", "plimsoll"], "--store", arguments
    )


def _write(text: str, out: Path) -> None:
    if out == STDOUT:
        print_plain(text)
    else:
        write_text(out, text)
