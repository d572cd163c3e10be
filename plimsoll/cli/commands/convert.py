"""`plimsoll convert`."""

from pathlib import Path
from typing import Literal

import typer

from plimsoll.api.inputs import read
from plimsoll.cli import args
from plimsoll.cli.console import print_line, print_remarks
from plimsoll.cli.long_work import show_progress
from plimsoll.cli.outputs import STDOUT, is_stdout, refuse_overwriting
from plimsoll.ingest.convert.convert import WRITERS, LogSelection
from plimsoll.model.errors import Unusable

app = args.make_command_app()


@app.command(
    "convert",
    epilog=args.format_examples(
        "plimsoll convert perfmon.blg --as parquet --out perfmon.parquet",
        "plimsoll convert perfmon.blg --as csv --out short.csv --counter 'Processor(*)\\*' --last 15m",
    ),
)
def convert(
    log: str = typer.Argument(..., help="A log; - for standard input; run:NAME; live:HOST.", metavar="LOG"),
    as_: Literal["csv", "parquet", "lp"] = typer.Option(
        ...,
        "--as",
        help="csv (as Performance Monitor writes it), parquet (a column each) or lp (InfluxDB line protocol).",
    ),
    out: Path = args.path_option(..., "--out", "The file to write."),
    counter: list[str] | None = typer.Option(
        None,
        "--counter",
        help="Keep counters whose path matches; * is any text: 'Processor(*)\\% Processor Time'. Repeat for more.",
    ),
    from_: args.FromOption = None,
    to: args.ToOption = None,
    last: args.LastOption = None,
    step: int = typer.Option(1, "--every", min=1, help="Keep every n-th row."),
    zone: args.ZoneOption = None,
    format_: args.FormatOption = None,
    encoding: args.EncodingOption = None,
    names: args.NamesOption = None,
    store: args.StoreOption = None,
) -> None:
    """Write a log in another format, whole or in part."""
    inputs = args.parse_inputs([log], zone, format_, encoding, names, store, (from_, to, last))
    with show_progress("Reading", inputs) as counted:
        logs, remarks, *_ = read(counted)
    if len(logs) > 1:
        raise Unusable(f"{log}: holds {len(logs)} logs; convert one at a time")
    (source,) = logs
    refuse_overwriting(logs, out, also_read=inputs.names)
    if out == STDOUT:
        raise Unusable("--out - is not supported: name a file, it is written as a whole or not at all")
    time_zone = inputs.requested_zone or source.zone
    start = end = None
    if not inputs.is_part and len(source.times):  # of live hosts only that part was read
        start, end = inputs.when.resolve(time_zone, int(source.times[0]), int(source.times[-1]), "the log ends at")
    part = LogSelection(tuple(counter or ()), start, end, step, time_zone).of(source)
    size, more_remarks = WRITERS[as_](part, out)
    if not is_stdout(out):
        print_line(f"{out}: {size}")
    print_remarks([*source.remarks, *remarks, *more_remarks])
