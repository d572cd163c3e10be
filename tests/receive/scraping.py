"""Scrapes of exporters, translated, for the tests of exporters."""

from plimsoll.model.times import SECOND
from plimsoll.receive.exporters.scrape import ScrapeTarget, read
from plimsoll.receive.line_protocol.parse import Parser

NOW = 1_790_000_000 * SECOND
WEB1 = ScrapeTarget("http://web1:9182/metrics")


def points(lines):
    """The values of line protocol by series without its host's tags, and by time in s after NOW."""
    parsed = Parser().parse(lines, now=NOW)
    assert parsed.malformed.count == parsed.refused.count == 0
    result = parsed.points
    return {
        (result.series[which], (time - NOW) / SECOND): value
        for which, time, value in zip(result.which.tolist(), result.times.tolist(), result.values.tolist(), strict=True)
    }


def scraped(translator, text, at=0.0, target=WEB1):
    return points(read(text, target, translator, NOW + int(at * SECOND)).lines)


def reported(values, measurement):
    """The values of a measurement, by the instance or other tags, and field."""
    return {
        (series.tag("instance") or ",".join(value for _, value in series.tags), series.field): value
        for (series, _), value in values.items()
        if series.measurement == measurement
    }
