"""Arguments and options that several commands take."""

from pathlib import Path
from typing import Annotated

import typer

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
    ),
]
ZoneOption = Annotated[
    str | None,
    typer.Option(
        "--zone", help="The zone of logs that do not say theirs, and to show times in: Europe/Berlin, +01:00."
    ),
]
FormatOption = Annotated[
    str | None, typer.Option("--format", help="Read as this format instead of choosing by content.")
]
EncodingOption = Annotated[str | None, typer.Option("--encoding", help="The code page of a header, such as cp1250.")]
NamesOption = Annotated[
    list[Path] | None,
    typer.Option("--names", help="A .yaml file of counter names in another language.", show_default=False),
]
JsonOption = Annotated[Path | None, typer.Option("--json", help="Write the result for other programs; - for stdout.")]
