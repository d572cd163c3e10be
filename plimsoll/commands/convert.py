"""`plimsoll convert`."""

from dataclasses import dataclass
from pathlib import Path

from ingest.convert import WRITERS, Part
from model.errors import Unusable
from plimsoll.console import STDOUT, is_stdout, plain, say, spare, tell
from plimsoll.sources import Named, read


@dataclass(frozen=True)
class Wanted:
    """Which part of a log is to be converted, as typed."""

    counters: tuple[str, ...] = ()
    every: int = 1


def run(named: Named, target: str, out: Path, wanted: Wanted) -> None:
    """Write a log in another format."""
    logs, remarks, *_ = read(named)
    if len(logs) > 1:
        raise Unusable(f"{named.places[0]}: holds {len(logs)} logs; convert one at a time")
    (log,) = logs
    spare(logs, out, others=named.names)
    if out == STDOUT:
        raise Unusable("--out - is not supported: name a file, it is written as a whole or not at all")
    zone = named.shown_in or log.zone
    # What was collected live was read for the time asked for; of a log without rows there is no part.
    cuts = named.hosts is None and len(log.times) > 0
    start, end = (
        named.when.resolve(zone, int(log.times[0]), int(log.times[-1]), "the log ends at") if cuts else (None, None)
    )
    part = Part(wanted.counters, start, end, wanted.every, zone).of(log)
    size, said = WRITERS[target](part, out)
    if not is_stdout(out):
        say(f"{plain(str(out))}: {size}")
    tell([*log.remarks, *remarks, *said])
