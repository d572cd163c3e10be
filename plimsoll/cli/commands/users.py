"""`plimsoll users`: changes the files in the data folder, even while `plimsoll up` is not running."""

import getpass
import sys
import time
from contextlib import closing
from json import dumps
from pathlib import Path
from typing import Annotated

import typer

from plimsoll.alerting import actions
from plimsoll.alerting.alerts_file import NAME, AlertsFile, NotKept
from plimsoll.api import data_folder
from plimsoll.cli import args
from plimsoll.cli.commands.alerts import find_terminal_actor, open_alerts
from plimsoll.cli.console import print_line, print_notice
from plimsoll.cli.outputs import write_json
from plimsoll.model.errors import Unusable
from plimsoll.model.time_arguments import TimeRange
from plimsoll.model.times import SECOND, format_iso
from plimsoll.serve import credentials, users
from plimsoll.serve.principals import Role

_WEEK = 7 * 86_400 * SECOND
_MOST_SHOWN = 1000
app = args.make_command_app("Manage the users of plimsoll up and their roles, and show the audit log.")
NameArgument = Annotated[str, typer.Argument(help="The name of the user.", metavar="NAME")]
MadeOption = Annotated[bool, typer.Option("--generate", help="Make a password and show it, instead of asking for one.")]


@app.command(
    "add",
    epilog=args.format_examples(
        "plimsoll users add anna --role operator", "plimsoll users add zoe@example.org --role viewer --no-password"
    ),
)
def add(
    name: NameArgument,
    role: Role = typer.Option(
        Role.VIEWER,
        "--role",
        help="viewer: may read. operator: may also silence, acknowledge and make notes. admin: may also "
        "change runs and settings.",
    ),
    generate: MadeOption = False,
    no_password: bool = typer.Option(
        False, "--no-password", help="The user has no password, and logs in through a proxy only."
    ),
    store: args.FolderOption = None,
) -> None:
    """Add a user; a running plimsoll up accepts the user at once.

    The password is read from the terminal, or, if stdin is a pipe, from the first line of stdin.
    """
    folder = _find_folder(store)
    if generate and no_password:
        raise Unusable("--generate and --no-password: give one of them")
    is_first = not users.load_users(folder)
    password = None if no_password else _ask_password(generate=generate)
    users.add(folder, name, role, password)
    _record(folder, f"added user {name}, {role}")
    print_line(f"{name} is a user, with the role {role}")
    _show(password if generate else None)
    if is_first and credentials.has_password(folder):
        print_notice("the password that everybody shares still lets people in, as admins: plimsoll users end-password")


@app.command("list", epilog=args.format_examples("plimsoll users list"))
def list_users(store: args.FolderOption = None) -> None:
    """List the users and their roles."""
    folder = store or data_folder.find_default_folder()
    for user in users.load_users(folder):
        print_line(f"{user.name:<24} {user.role:<9}{'' if user.has_password else ' only by a proxy'}")
    if credentials.has_password(folder):
        print_line("Everybody who has the password that is shared is an admin; plimsoll users end-password ends that")
    elif not users.load_users(folder):
        print_line("There are no users: plimsoll users add NAME --role admin")


@app.command("remove", epilog=args.format_examples("plimsoll users remove anna"))
def remove(name: NameArgument, store: args.FolderOption = None) -> None:
    """Remove a user."""
    folder = _find_folder(store)
    users.remove(folder, name)
    _record(folder, f"removed user {name}")
    print_line(f"{name} is a user no more")
    if not users.load_users(folder):
        print_notice("there are no users any more: on the loopback address everybody may change everything, as before")


@app.command(
    "passwd", epilog=args.format_examples("plimsoll users passwd anna", "plimsoll users passwd anna --generate")
)
def passwd(name: NameArgument, generate: MadeOption = False, store: args.FolderOption = None) -> None:
    """Change the password of a user."""
    folder = _find_folder(store)
    password = _ask_password(generate=generate)
    users.change_user(folder, name, password=password)
    _record(folder, f"changed the password of {name}")
    print_line(f"{name} has a new password")
    _show(password if generate else None)


@app.command("role", epilog=args.format_examples("plimsoll users role anna admin"))
def change_role(
    name: NameArgument,
    role: Role = typer.Argument(..., help="What the user may do."),
    store: args.FolderOption = None,
) -> None:
    """Change the role of a user."""
    folder = _find_folder(store)
    users.change_user(folder, name, role=role)
    _record(folder, f"gave {name} the role {role}")
    print_line(f"{name} has the role {role}")


@app.command("end-password", epilog=args.format_examples("plimsoll users end-password"))
def end_password(store: args.FolderOption = None) -> None:
    """Revoke the shared password, when everybody has a user name."""
    folder = _find_folder(store)
    credentials.end_password(folder)
    _record(folder, "ended the password that everybody shared")
    print_line("The password that everybody shared is not valid any more")


@app.command("log", epilog=args.format_examples("plimsoll users log --last 2d", "plimsoll users log --who anna"))
def log(
    start: args.FromOption = None,
    end: args.ToOption = None,
    last: args.LastOption = None,
    who: str = typer.Option("", "--who", help="Only actions of this person."),
    json: args.JsonOption = None,
    store: args.FolderOption = None,
) -> None:
    """Show the audit log: who did what in the last 7 days, or between --from and --to."""
    now = time.time_ns()
    with open_alerts(store) as (file, zone):
        first, until = TimeRange(start, end, last).resolve(zone, now - _WEEK, now, "it is now")
        entries, total = actions.find_audit_entries(
            file, now - _WEEK if first is None else first, now if until is None else until, who, 0, _MOST_SHOWN
        )
    if json is not None:
        parts = [
            {"at": format_iso(entry.at), "who": entry.who, "how": entry.how, "what": entry.what} for entry in entries
        ]
        write_json(json, dumps({"schema": "plimsoll.record/1", "deeds": parts}, indent=2, ensure_ascii=False))
        return
    for entry in reversed(entries):
        print_line(f"{zone.clock(entry.at)}  {entry.who} ({entry.how}) {entry.what}", indent=4)
    if not entries:
        print_line("Nobody did anything in this time")
    elif total > len(entries):
        print_notice(f"{total - len(entries):,} earlier ones are left out: give --from and --to")


def _find_folder(store: Path | None) -> Path:
    return data_folder.prepare(store or data_folder.find_default_folder())


def _ask_password(*, generate: bool) -> str:
    """Return a password: a generated one, else the password typed at the terminal, or the first line of a pipe."""
    if generate:
        return users.make_password()
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


def _record(folder: Path, text: str) -> None:
    """Add an action to the audit log. A failure is only reported, as the action is done already."""
    try:
        with closing(AlertsFile.existing(folder) if (folder / NAME).exists() else AlertsFile(folder / NAME)) as file:
            actions.write_audit_entry(file, find_terminal_actor(), time.time_ns(), text)
    except (Unusable, NotKept) as error:
        print_notice(f"the record does not have it: {error}")
