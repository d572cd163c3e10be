"""`plimsoll up`."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from plimsoll.cli.options.shared import OnlyOption, PackOption, not_empty, path_option


class TokenFor(StrEnum):
    """What a token is for."""

    SAMPLES = "samples"
    READ = "read"
    OPERATE = "operate"
    CHANGE = "change"


FolderOption = Annotated[
    Path | None,
    path_option(
        "--store",
        "The data folder of plimsoll up; by default plimsoll in the folder that the system has for it.",
        show_default=False,
    ),
]

UpStoreOption = Annotated[
    str | None,
    typer.Option(
        "--store",
        help="The data folder; by default plimsoll in the folder that the system has for it. Or the address of an "
        "InfluxDB 2 (http://127.0.0.1:8086) or a VictoriaMetrics (victoriametrics://127.0.0.1:8428): judge what agents "
        "write there, and write there; its token is read from INFLUX_TOKEN or VICTORIAMETRICS_TOKEN.",
        metavar="FOLDER|ADDRESS",
        show_default=False,
        callback=not_empty,
    ),
]


def backup_command(
    to: Annotated[Path, typer.Argument(help="The new file to write.", metavar="FILE", show_default=False)],
    store: FolderOption = None,
) -> None:
    """Copy the embedded store, also while plimsoll up runs."""
    from plimsoll.cli.commands import backup

    backup.run(to, store)


def reload_command(store: FolderOption = None) -> None:
    """Have a running plimsoll up read up.toml and plimsoll.toml anew.

    If they are wrong, the settings of before stay, and the exit status is 2.
    """
    from plimsoll.cli.commands import reload

    reload.run(store)


def up_command(
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
    store: UpStoreOption = None,
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
    log: Annotated[
        Path | None,
        path_option(
            "--log", "Write the log to this file, kept below 5 MB, instead of the terminal.", show_default=False
        ),
    ] = None,
    no_collect: Annotated[bool, typer.Option("--no-collect", help="Do not collect this computer's counters.")] = False,
    demo: Annotated[
        bool,
        typer.Option("--demo", help="Simulate a SQL Server that is in trouble now and then, and two recorded runs."),
    ] = False,
    new_token: Annotated[bool, typer.Option("--new-token", help="Make a new token, show it, and end.")] = False,
    token_for: Annotated[
        TokenFor,
        typer.Option(
            "--token-for",
            help="What the token is for: samples that agents write, or the HTTP API: to read; "
            "to do what operators do as well; or to change everything.",
        ),
    ] = TokenFor.SAMPLES,
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
        up.end_token(store, end_token, token_for)
        return
    if new_token or new_password or token_name:
        up.new_secrets(
            store, token=new_token or bool(token_name), password=new_password, name=token_name, use=token_for
        )
        return
    up.run(
        up.Options(
            store,
            listen,
            settings,
            tuple(pack or ()),
            tuple(only or ()),
            (cert, key),
            tuple(allow_host or ()),
            not no_collect,
            demo,
            url=url,
            log=log,
        )
    )
