"""Arguments and options that several commands take."""

import codecs
from pathlib import Path
from typing import Annotated, Any

import typer

_NOT_OF_LOGS = {"idna", "punycode", "raw-unicode-escape", "unicode-escape"}  # Python has them as encodings of text


def not_empty(value: str | None) -> str | None:
    """A value as it is. BadParameter if it is empty, as where a variable of the shell is not set."""
    if value == "":
        raise typer.BadParameter("it is empty; give it a value, or leave the option out.")
    return value


def _path(text: str) -> Path:
    """The path of a file or folder. BadParameter if none is named: an empty text would be the current folder."""
    if not text:
        raise typer.BadParameter("no file is named.")
    return Path(text)


def path_option(name: str, help_: str, *, show_default: bool = True) -> Any:  # as typer.Option is
    """An option that names a file or folder."""
    return typer.Option(name, help=help_, parser=_path, metavar="<path>", show_default=show_default)


def text_encoding(value: str | None) -> str | None:
    """The name of an encoding that a log's header may have. BadParameter if it is none."""
    if value is None:
        return None
    not_empty(value)
    try:
        known = codecs.lookup(value).name.replace("_", "-") not in _NOT_OF_LOGS and bool("a".encode(value))
    except (LookupError, ValueError):
        known = False
    if not known:
        raise typer.BadParameter(f'"{value}" is not an encoding of text that is known; write it like cp1250.')
    return value


LogArgument = Annotated[
    list[str],
    typer.Argument(
        help="Logs, or folders of them; - for standard input; run:NAME for a run in a store; live:HOST for what was "
        "collected.",
        metavar="LOG...",
        show_default=False,
    ),
]
StoreOption = Annotated[
    str | None,
    typer.Option(
        "--store",
        help="The address of an InfluxDB 2 (http://127.0.0.1:8086, with ?org= and &bucket=); its token is taken from "
        "INFLUX_TOKEN. Default: INFLUX_URL, .env, or the stack that runs here.",
        show_default=False,
        callback=not_empty,
    ),
]
ZoneOption = Annotated[
    str | None,
    typer.Option(
        "--zone",
        help="The zone of logs that do not say theirs, and to show times in: Europe/Berlin, +01:00.",
        callback=not_empty,
    ),
]
FromOption = Annotated[
    str | None,
    typer.Option(
        "--from",
        help="From this time on: 10:22, 2008-01-15T10:22, or -15m for so long before the end (with live:HOST, ago).",
        callback=not_empty,
    ),
]
ToOption = Annotated[
    str | None,
    typer.Option("--to", help="Up to this time; a clock time is the first after --from.", callback=not_empty),
]
LastOption = Annotated[
    str | None,
    typer.Option(
        "--last",
        metavar="TIME",
        help="So long before the end, or with live:HOST before now: 15m, 2h. Stands for --from and --to.",
        callback=not_empty,
    ),
]
FormatOption = Annotated[
    str | None,
    typer.Option("--format", help="Which format the logs are of; one of any other is refused.", callback=not_empty),
]
EncodingOption = Annotated[
    str | None,
    typer.Option("--encoding", help="The code page of a header, such as cp1250.", callback=text_encoding),
]
NamesOption = Annotated[
    list[Path] | None,
    path_option("--names", "A .yaml file of counter names in another language.", show_default=False),
]
JsonOption = Annotated[Path | None, path_option("--json", "Write the result for other programs; - for stdout.")]
PackOption = Annotated[
    list[str] | None,
    typer.Option(
        "--pack",
        help="Add a pack of one's own (a .yaml file), or name one that ships: it is then judged at full strength. "
        "Repeat for more.",
        show_default=False,
    ),
]
OnlyOption = Annotated[
    list[str] | None,
    typer.Option(
        "--only",
        help="This pack (name or .yaml file) instead of those that ship; repeat for more.",
        show_default=False,
    ),
]
