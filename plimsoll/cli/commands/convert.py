"""`plimsoll convert`."""

from dataclasses import dataclass
from pathlib import Path

from plimsoll.api.inputs import Inputs, read
from plimsoll.cli.console import print_line, print_remarks
from plimsoll.cli.outputs import STDOUT, is_stdout, refuse_overwriting
from plimsoll.cli.waiting import working_on
from plimsoll.ingest.convert.convert import WRITERS, Part
from plimsoll.model.errors import Unusable


@dataclass(frozen=True)
class Options:
    """Which part of a log to convert, and to what, as typed."""

    target: str
    out: Path
    counters: tuple[str, ...] = ()
    every: int = 1


def run(inputs: Inputs, options: Options) -> None:
    """Write a log in another format."""
    out = options.out
    with working_on("Reading", inputs.sources):
        logs, remarks, *_ = read(inputs)
    if len(logs) > 1:
        raise Unusable(f"{inputs.sources[0]}: holds {len(logs)} logs; convert one at a time")
    (log,) = logs
    refuse_overwriting(logs, out, also_read=inputs.names)
    if out == STDOUT:
        raise Unusable("--out - is not supported: name a file, it is written as a whole or not at all")
    zone = inputs.requested_zone or log.zone
    start = end = None
    if inputs.hosts is None and len(log.times):  # of live hosts only that part was read
        start, end = inputs.when.resolve(zone, int(log.times[0]), int(log.times[-1]), "the log ends at")
    part = Part(options.counters, start, end, options.every, zone).of(log)
    size, more_remarks = WRITERS[options.target](part, out)
    if not is_stdout(out):
        print_line(f"{out}: {size}")
    print_remarks([*log.remarks, *remarks, *more_remarks])
