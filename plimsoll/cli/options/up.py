"""`plimsoll up`."""

from pathlib import Path
from typing import Annotated

import typer

from plimsoll.cli.options.shared import OnlyOption, PackOption, not_empty, path_option

DataOption = Annotated[
    Path | None,
    path_option(
        "--data", "The data folder; by default plimsoll in the folder that the system has for it.", show_default=False
    ),
]


def backup_command(
    to: Annotated[Path, typer.Argument(help="The new file to write.", metavar="FILE", show_default=False)],
    data: DataOption = None,
) -> None:
    """Copy the embedded store, also while plimsoll up runs."""
    from plimsoll.cli.commands import backup

    backup.run(to, data)


def up_command(
    data: DataOption = None,
    listen: Annotated[
        str | None,
        typer.Option(
            "--listen",
            metavar="ADDRESS:PORT",
            help="The address to listen on; by default 127.0.0.1:8087, which only this computer can reach.",
            show_default=False,
            callback=not_empty,
        ),
    ] = None,
    store: Annotated[
        str | None,
        typer.Option(
            "--store",
            help="Judge what agents write to an InfluxDB 2 (http://127.0.0.1:8086), and write there; its token is read "
            "from INFLUX_TOKEN. Default: a store in the data folder.",
            show_default=False,
            callback=not_empty,
        ),
    ] = None,
    settings: Annotated[
        Path | None,
        path_option("--settings", "A plimsoll.toml: facts of hosts, and changed thresholds.", show_default=False),
    ] = None,
    pack: PackOption = None,
    only: OnlyOption = None,
    cert: Annotated[
        Path | None, path_option("--cert", "The certificate chain for TLS, in PEM.", show_default=False)
    ] = None,
    key: Annotated[Path | None, path_option("--key", "The key of the certificate, in PEM.", show_default=False)] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            "--allow-host", help="A name by which clients call this server; repeat for more.", show_default=False
        ),
    ] = None,
    url: Annotated[
        str | None,
        typer.Option(
            "--url",
            metavar="ADDRESS",
            help="The address under which people reach it, for links in messages: https://plimsoll.example.org; by "
            "default the one it listens on.",
            show_default=False,
            callback=not_empty,
        ),
    ] = None,
    no_collect: Annotated[bool, typer.Option("--no-collect", help="Do not collect this computer's counters.")] = False,
    demo: Annotated[
        bool,
        typer.Option("--demo", help="Simulate a SQL Server that is in trouble now and then, and two recorded runs."),
    ] = False,
    new_token: Annotated[
        bool, typer.Option("--new-token", help="Make a new token for writing, show it, and end.")
    ] = False,
    token_name: Annotated[
        str,
        typer.Option(
            "--token-name", help="With --new-token: a token beside the others, of this name.", show_default=False
        ),
    ] = "",
    end_token: Annotated[
        str,
        typer.Option("--end-token", help="Let the token of this name not be valid, and end.", show_default=False),
    ] = "",
    new_password: Annotated[
        bool, typer.Option("--new-password", help="Make a new password for reading, show it, and end.")
    ] = False,
) -> None:
    """Collect, take what agents send, judge it by the rules, and tell people."""
    from plimsoll.cli.commands import up

    if end_token:
        up.end_token(data, end_token)
        return
    if new_token or new_password or token_name:
        up.new_secrets(data, token=new_token or bool(token_name), password=new_password, name=token_name)
        return
    up.run(
        up.Options(
            data,
            listen,
            store,
            settings,
            tuple(pack or ()),
            tuple(only or ()),
            (cert, key),
            tuple(allow_host or ()),
            not no_collect,
            demo,
            url=url,
        )
    )
