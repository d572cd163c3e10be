"""What all commands share: how a command is declared, the common options, and the inputs that options name."""

import codecs
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from plimsoll.api.inputs import Inputs

_NOT_OF_LOGS = {"idna", "punycode", "raw-unicode-escape", "unicode-escape"}  # not of text files


def make_command_app(help_: str | None = None) -> typer.Typer:
    """Return a Typer application: for a group of commands, whose help is `help_`, or, without help, for one command."""
    return typer.Typer(help=help_, no_args_is_help=help_ is not None, rich_markup_mode=None, add_completion=False)


def format_examples(*lines: str) -> str:
    """Return lines of examples as the text for the end of a command's help; Typer keeps the line breaks."""
    return "\n".join(["\b", "Examples:", *(f"  {line}" for line in lines)])


def parse_inputs(
    sources: Sequence[str],
    zone: str | None = None,
    format_: str | None = None,
    encoding: str | None = None,
    names: Sequence[Path] | None = None,
    store: str | None = None,
    when: tuple[str | None, str | None, str | None] = (None, None, None),
    of_server: tuple[list[str] | None, str | None] = (None, None),
) -> "Inputs":
    """Return the inputs that options name. `when` is --from, --to and --last; `of_server` is --host and --match."""
    # Imported here: the Windows service has these options too, but must start fast.
    from plimsoll.api.inputs import Inputs
    from plimsoll.cli.console import print_notice
    from plimsoll.model.time_arguments import TimeRange

    range_ = TimeRange(*when)
    of_logs = zone, format_, encoding, tuple(names or ()), store, range_
    hosts, match = tuple(of_server[0] or ()), of_server[1]
    return Inputs(tuple(sources), *of_logs, notify=print_notice, only_hosts=hosts, match=match)


def parse_duration_option(option: str, text: str) -> int:
    """Return the duration (ns) that `text` means. Raise Unusable, naming the option, if it is no duration."""
    from plimsoll.model.errors import Unusable
    from plimsoll.model.times import parse_duration

    try:
        return parse_duration(text)
    except ValueError as error:
        raise Unusable(f"{option}: {error}") from None


def refuse_empty(value: str | None) -> str | None:
    """Return an option's text unchanged. Raise BadParameter if it is empty, as from an unset shell variable."""
    if value == "":
        raise typer.BadParameter("it is empty; give it a value, or leave the option out.")
    return value


def _parse_path(text: str) -> Path:
    """Return an option's text as a path. Raise BadParameter if it is empty, as Path('') is the current folder."""
    if not text:
        raise typer.BadParameter("no file is named.")
    return Path(text)


def path_option(default: Any, name: str, help_: str) -> Any:  # like typer.Option
    """Return the declaration of an option that names a file or folder, as the default of a parameter."""
    return typer.Option(default, name, help=help_, parser=_parse_path, metavar="<path>")


def _paths(name: str, help_: str) -> Any:
    """Return the declaration of an option that names a file or folder, for the type annotation of a parameter."""
    return typer.Option(name, help=help_, parser=_parse_path, metavar="<path>")


def _annotate_text(name: str, help_: str, metavar: str | None = None) -> Any:
    """Return the declaration of an option whose text must not be empty, for the type annotation of a parameter."""
    return typer.Option(name, help=help_, metavar=metavar, callback=refuse_empty)


def check_encoding(value: str | None) -> str | None:
    """Return the name of an encoding unchanged. Raise BadParameter if Python knows no such encoding of text."""
    if value is None:
        return None
    refuse_empty(value)
    try:
        is_known = codecs.lookup(value).name.replace("_", "-") not in _NOT_OF_LOGS and bool("a".encode(value))
    except (LookupError, ValueError):
        is_known = False
    if not is_known:
        raise typer.BadParameter(f'"{value}" is not an encoding of text that is known; write it like cp1250.')
    return value


LogArgument = Annotated[
    list[str],
    typer.Argument(
        help="Logs or folders of logs; - for standard input; run:NAME for a run in a store; live:HOST for what was "
        "collected from a host, live: for all hosts; prometheus://HOST:9090 for what a server recorded.",
        metavar="LOG...",
    ),
]
StoreOption = Annotated[
    str | None,
    _annotate_text(
        "--store",
        "The data folder of plimsoll up, a file that plimsoll backup wrote, runs:FOLDER for a folder of runs that "
        "computers share, or the address of an InfluxDB 2 "
        "(http://127.0.0.1:8086, with ?org= and &bucket= if needed), whose token is read from INFLUX_TOKEN, or of a "
        "VictoriaMetrics (victoriametrics://127.0.0.1:8428), whose token is read from VICTORIAMETRICS_TOKEN. Default: "
        "INFLUX_URL, .env, or the user's data folder.",
        "FOLDER|FILE|ADDRESS",
    ),
]
ZoneOption = Annotated[
    str | None,
    _annotate_text(
        "--zone", "The time zone of logs that do not name theirs, and to show times in: Europe/Berlin, +01:00."
    ),
]
FromOption = Annotated[
    str | None,
    _annotate_text(
        "--from",
        "Leave out what is before this time: 10:22, 2008-01-15T10:22, or -15m for 15 minutes before the end (with "
        "live:HOST, before now).",
    ),
]
ToOption = Annotated[
    str | None, _annotate_text("--to", "Leave out what is after this time; a clock time is the first after --from.")
]
LastOption = Annotated[
    str | None,
    _annotate_text(
        "--last", "Only the end, or with live:HOST the time before now: 15m, 2h. Instead of --from and --to.", "TIME"
    ),
]
HostOption = Annotated[
    list[str] | None, typer.Option("--host", help="Of a server, read this host alone; repeat for more.", metavar="HOST")
]
MatchOption = Annotated[
    str | None,
    _annotate_text("--match", "Of Prometheus, read only series with these labels: 'job=\"node\"'.", "LABELS"),
]
FormatOption = Annotated[
    str | None, _annotate_text("--format", "The format the logs must have, such as PDH-CSV; others are refused.")
]
EncodingOption = Annotated[
    str | None,
    typer.Option(
        "--encoding", help="The encoding of the header, such as cp1250, if it is read wrongly.", callback=check_encoding
    ),
]
NamesOption = Annotated[
    list[Path] | None, _paths("--names", "A .yaml file that translates counter names; repeat for more.")
]
JsonOption = Annotated[Path | None, _paths("--json", "Write the result as JSON; - for stdout.")]
WholeRunOption = Annotated[
    bool,
    typer.Option(
        "--whole-run", help="Judge rules for the steady state over the whole run, even where a steady state was found."
    ),
]
PackOption = Annotated[
    list[str] | None,
    typer.Option(
        "--pack",
        help="Add a pack of your own (a .yaml file), or judge a shipped pack in full, even where newer limits"
        " supersede it. Repeat for more.",
    ),
]
OnlyOption = Annotated[
    list[str] | None,
    typer.Option("--only", help="Use this pack (name or .yaml file) instead of the shipped ones; repeat for more."),
]
MarkdownOption = Annotated[
    Path | None, _paths("--markdown", "Write a summary in Markdown, as for a pull request; - for stdout.")
]
DetailsOption = Annotated[
    bool, typer.Option("--details", help="Print every signal and a table of the runs on a terminal.")
]
FolderOption = Annotated[
    Path | None,
    _paths("--store", "The data folder of plimsoll up; by default plimsoll in the folder that the system has for it."),
]
UpStoreOption = Annotated[
    str | None,
    _annotate_text(
        "--store",
        "The data folder; by default plimsoll in the folder that the system has for it. Or the address of an "
        "InfluxDB 2 (http://127.0.0.1:8086) or a VictoriaMetrics (victoriametrics://127.0.0.1:8428): judge what agents "
        "write there, and write there; its token is read from INFLUX_TOKEN or VICTORIAMETRICS_TOKEN.",
        "FOLDER|ADDRESS",
    ),
]
