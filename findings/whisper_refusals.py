"""Whisper refuses a point that is too old, unless it comes with others: then it is gone without a word.

whisper 1.1.10, the storage of Graphite. Guess: `update` and `update_many` treat a point alike. `update` raises
TimestampNotCovered for a point older than the longest archive, and for one in the future. `update_many`, which carbon
calls for whatever it has cached, drops the old one silently and stores the one in the future, in the place of the
points that are due there.
Half of the points of an interval are enough for the archive below: three samples of six are its mean, two are none, and
`sum` of five of six is the sum of five, with nothing that says so.

Seen: TimestampNotCovered twice from `update`, nothing from `update_many`, and the value 7 a minute ahead; 1.0 (three
of 0, 1, 2), None (two), 50 (a sum of 10 with one of six missing)
"""

from pathlib import Path

from common import expect, run_finding, use_python_packages
from programs import START

NOW = START + 600


def probe(folder: Path) -> None:
    """Store old and early points both ways, and archives with holes."""
    use_python_packages(folder, "whisper==1.1.10")
    import whisper

    def create(name: str, **settings: str) -> str:
        path = str(folder / name)
        whisper.create(path, [(10, 360), (60, 1440)], **settings)
        return path

    path = create("points.wsp")
    for second in (NOW - 2 * 86400, NOW + 60):
        refused = ""
        try:
            whisper.update(path, 7.0, second, now=NOW)
        except whisper.TimestampNotCovered:
            refused = "TimestampNotCovered"
        expect(refused, "TimestampNotCovered", f"`update` {second - NOW} s from now")
        whisper.update_many(path, [(second, 7.0)], now=NOW)
    expect(whisper.fetch(path, NOW, NOW + 120, now=NOW + 120)[1].count(7.0), 1, "values stored in the future")

    def minute(name: str, values: list[float | None], **settings: str) -> float | None:
        path = create(name, **settings)
        points = [(START + 10 * i, value) for i, value in enumerate(values) if value is not None]
        whisper.update_many(path, points, now=NOW)
        return next(
            (v for v in whisper.fetch(path, START - 60, START + 180, now=NOW, archiveToSelect=60)[1] if v), None
        )

    expect(minute("half.wsp", [0.0, 1.0, 2.0]), 1.0, "the mean of three points of six")
    expect(minute("third.wsp", [0.0, 1.0]), None, "the mean of two points of six")
    holed = [10.0, 10.0, None, 10.0, 10.0, 10.0]
    expect(minute("sum.wsp", holed, aggregationMethod="sum"), 50.0, "the sum of five points of six")


if __name__ == "__main__":
    run_finding(probe)
