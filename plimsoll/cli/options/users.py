"""`plimsoll users`."""

from enum import StrEnum
from typing import Annotated

import typer

from plimsoll.cli.options.shared import FromOption, JsonOption, LastOption, ToOption
from plimsoll.cli.options.up import FolderOption

app = typer.Typer(
    help="The users of plimsoll up, what they may do, and what they did.", no_args_is_help=True, rich_markup_mode=None
)


class RoleName(StrEnum):
    """What a user may do."""

    VIEWER = "viewer"
    OPERATOR = "operator"
    ADMIN = "admin"


NameArgument = Annotated[str, typer.Argument(help="The name of the user.", metavar="NAME", show_default=False)]
MadeOption = Annotated[bool, typer.Option("--generate", help="Make a password and show it, instead of asking for one.")]


@app.command("add")
def users_add_command(
    name: NameArgument,
    role: Annotated[
        RoleName,
        typer.Option(
            "--role",
            help="viewer: reads. operator: also silences, acknowledges and makes notes. admin: also runs and settings.",
        ),
    ] = RoleName.VIEWER,
    generate: MadeOption = False,
    no_password: Annotated[
        bool, typer.Option("--no-password", help="Only a proxy that people log in at may say that it is this user.")
    ] = False,
    store: FolderOption = None,
) -> None:
    """Add a user; a running plimsoll up knows it at once.

    The password is asked for on the terminal; in a pipe it is the first line of stdin.
    """
    from plimsoll.cli.commands import users

    users.add(store, name, role, generate=generate, no_password=no_password)


@app.command("list")
def users_list_command(store: FolderOption = None) -> None:
    """List the users and their roles."""
    from plimsoll.cli.commands import users

    users.list_users(store)


@app.command("remove")
def users_remove_command(name: NameArgument, store: FolderOption = None) -> None:
    """Remove a user."""
    from plimsoll.cli.commands import users

    users.remove(store, name)


@app.command("passwd")
def users_passwd_command(name: NameArgument, generate: MadeOption = False, store: FolderOption = None) -> None:
    """Change the password of a user."""
    from plimsoll.cli.commands import users

    users.passwd(store, name, generate=generate)


@app.command("role")
def users_role_command(
    name: NameArgument,
    role: Annotated[RoleName, typer.Argument(help="What the user may do.", show_default=False)],
    store: FolderOption = None,
) -> None:
    """Change the role of a user."""
    from plimsoll.cli.commands import users

    users.change_role(store, name, role)


@app.command("end-password")
def users_end_password_command(store: FolderOption = None) -> None:
    """Let the password that everybody shares not be valid any more, when all have users of their own."""
    from plimsoll.cli.commands import users

    users.end_password(store)


@app.command("log")
def users_log_command(
    start: FromOption = None,
    end: ToOption = None,
    last: LastOption = None,
    who: Annotated[str, typer.Option("--who", help="Only what this person did.", show_default=False)] = "",
    json: JsonOption = None,
    store: FolderOption = None,
) -> None:
    """Show who did what, of the last 7 days or of --from and --to."""
    from plimsoll.cli.commands import users
    from plimsoll.model.time_arguments import TimeRange

    users.log(store, TimeRange(start, end, last), who, json)
