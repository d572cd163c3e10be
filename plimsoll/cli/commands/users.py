"""`plimsoll users`: works on the files of the data folder, whether `plimsoll up` runs or not."""

import getpass
import sys
import time
from json import dumps
from pathlib import Path

from plimsoll.alerting import audit_log
from plimsoll.alerting.alerts_file import NAME, AlertsFile, NotKept
from plimsoll.api import data_folder
from plimsoll.cli.commands.alerts.alerts import opened
from plimsoll.cli.console import print_line, print_notice
from plimsoll.cli.outputs import write_json
from plimsoll.cli.person import at_terminal
from plimsoll.model.errors import Unusable
from plimsoll.model.time_arguments import TimeRange
from plimsoll.model.times import SECOND, iso
from plimsoll.serve import credentials, users
from plimsoll.serve.principals import Role

_WEEK = 7 * 86_400 * SECOND
_MOST_SHOWN = 1000


def add(data: Path | None, name: str, role: str, *, generate: bool, no_password: bool) -> None:
    """Add a user."""
    folder = _made(data)
    if generate and no_password:
        raise Unusable("--generate and --no-password: give one of them")
    is_first = not users.listed(folder)
    password = None if no_password else _password(generate=generate)
    users.add(folder, name, Role(role), password)
    _record(folder, f"added user {name}, {role}")
    print_line(f"{name} is a user, with the role {role}")
    _show(password if generate else None)
    if is_first and credentials.has_password(folder):
        print_notice("the password that everybody shares still lets people in, as admins: plimsoll users end-password")


def list_users(data: Path | None) -> None:
    """List the users."""
    folder = data or data_folder.default_folder()
    for one in users.listed(folder):
        print_line(f"{one.name:<24} {one.role:<9}{'' if one.has_password else ' only by a proxy'}")
    if credentials.has_password(folder):
        print_line("Everybody who has the password that is shared is an admin; plimsoll users end-password ends that")
    elif not users.listed(folder):
        print_line("There are no users: plimsoll users add NAME --role admin")


def remove(data: Path | None, name: str) -> None:
    """Remove a user."""
    folder = _made(data)
    users.remove(folder, name)
    _record(folder, f"removed user {name}")
    print_line(f"{name} is a user no more")
    if not users.listed(folder):
        print_notice("there are no users any more: on the loopback address everybody may change everything, as before")


def passwd(data: Path | None, name: str, *, generate: bool) -> None:
    """Change a password."""
    folder = _made(data)
    password = _password(generate=generate)
    users.change(folder, name, password=password)
    _record(folder, f"changed the password of {name}")
    print_line(f"{name} has a new password")
    _show(password if generate else None)


def change_role(data: Path | None, name: str, role: str) -> None:
    """Change a role."""
    folder = _made(data)
    users.change(folder, name, role=Role(role))
    _record(folder, f"gave {name} the role {role}")
    print_line(f"{name} has the role {role}")


def end_password(data: Path | None) -> None:
    """End the password that everybody shares."""
    folder = _made(data)
    credentials.end_password(folder)
    _record(folder, "ended the password that everybody shared")
    print_line("The password that everybody shared is not valid any more")


def log(data: Path | None, given: TimeRange, who: str, json: Path | None) -> None:
    """Show the record."""
    now = time.time_ns()
    with opened(data) as (file, zone):
        start, end = given.resolve(zone, now - _WEEK, now, "it is now")
        found = audit_log.found(
            file, now - _WEEK if start is None else start, now if end is None else end, who, 0, _MOST_SHOWN
        )
    if json is not None:
        parts = [{"at": iso(one.at), "who": one.who, "how": one.how, "what": one.what} for one in found.deeds]
        write_json(json, dumps({"schema": "plimsoll.record/1", "deeds": parts}, indent=2, ensure_ascii=False))
        return
    for one in reversed(found.deeds):
        print_line(f"{zone.clock(one.at)}  {one.who} ({one.how}) {one.what}", indent=4)
    if not found.deeds:
        print_line("Nobody did anything in this time")
    elif found.total > len(found.deeds):
        print_notice(f"{found.total - len(found.deeds):,} earlier ones are left out: give --from and --to")


def _made(data: Path | None) -> Path:
    return data_folder.made(data or data_folder.default_folder())


def _password(*, generate: bool) -> str:
    """The password: a new one, the one that is typed twice, or the first line of a pipe."""
    if generate:
        return users.new_password()
    if not sys.stdin or not sys.stdin.isatty():
        return (sys.stdin.readline() if sys.stdin else "").rstrip("\r\n")
    first = getpass.getpass("Password: ")
    if first != getpass.getpass("The same again: "):
        raise Unusable("the two passwords differ: nothing was changed")
    return first


def _show(password: str | None) -> None:
    if password is not None:
        print_line(f"  password  {password}", indent=12)
        print_line("            it is shown only now", indent=12)


def _record(folder: Path, what: str) -> None:
    """Keep what was done. It is done even if that cannot be kept."""
    try:
        file = AlertsFile.existing(folder) if (folder / NAME).exists() else AlertsFile(folder / NAME)
    except Unusable as error:
        print_notice(f"the record does not have it: {error}")
        return
    try:
        audit_log.add(file, at_terminal(), time.time_ns(), what)
    except NotKept as error:
        print_notice(f"the record does not have it: {error}")
    finally:
        file.close()
