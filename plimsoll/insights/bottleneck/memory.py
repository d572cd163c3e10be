"""How near the memory of a host was to its capacity."""

from dataclasses import replace

import numpy as np

from plimsoll.insights.bottleneck.load_response import LoadResponse
from plimsoll.insights.bottleneck.measured import OURS, Measured, document_of
from plimsoll.insights.bottleneck.resource_use import SQL_CACHE, Figure, ResourceUse, UseState, figure_of
from plimsoll.model.log import Values
from plimsoll.model.series import host_key
from plimsoll.model.times import SECOND
from plimsoll.review.findings import CROSSED, JUDGED, Finding
from plimsoll.review.sentences import limit_of
from plimsoll.rules.subjects import Subject

# Our choices.
_GROWN = 5.0  # times the pages under low load: paging, where hardly any memory is left
_PAGING = ("memory.swapped_out", "memory.swapped_in", "memory.pages", "memory.pages_input", "memory.major_faults")
_PAGES = ("memory.pages", "memory.pages_input", "memory.major_faults")
_SWAPPING = ("memory.swapped_out", "memory.swapped_in")
_BY_THE_CLOCK = 0.5  # s of page life for each second
_PAGE_LIFE = ("sql-page-life-critical", "sql-page-life-maximum", "sql-page-life-expectancy")
_LITTLE = "windows-memory-available"  # the rule whose limit, with much paging, is little
_SHARE = "windows-memory-available-share-critical"
_OF_SMALL = "windows-memory-available-small"  # the limit of hosts for which those of others may be a healthy share
_MB = 2**20


def memory(measured: Measured, host: str, load: LoadResponse) -> ResourceUse:
    """Return the standing of a host's memory: what is left of it, and whether data had to be read from disk again."""
    left = _left(measured, host, load)
    paging = [first for name in _PAGING if (first := _first(measured, host, load, (name,))) is not None]
    little = measured.documented(_LITTLE, Subject(host)).limit
    level = measured.level("memory.pages", "high", 0.0)
    stalled = _first(measured, host, load, ("memory.stalled", "memory.waited_for"))
    shown = tuple(figure for figure in (left, _begun(_most(paging), level)) if figure is not None)
    if stalled is not None and stalled.value > (stalled.limit or 0):
        return ResourceUse("memory", host, UseState.FULL, (stalled, *shown))
    if (cache := _small_cache(measured, host, load)) is not None:
        return ResourceUse("memory", host, UseState.NEAR, (*cache, *shown), aspect=SQL_CACHE)
    return ResourceUse(
        "memory",
        host,
        _state(left, paging, little, level),
        shown,
        needed="" if left and paging else measured.needed("memory", host),
    )


def _state(left: Figure | None, paging: list[Figure], little: float, value: float) -> UseState:
    pages = any(figure.value >= (figure.limit or 0) for figure in paging)
    if left is None:
        swaps = all(
            any(figure.signal == name and figure.value >= (figure.limit or 0) for figure in paging)
            for name in _SWAPPING
        )
        return UseState.NEAR if swaps else UseState.UNCLEAR if paging else UseState.NOT_RECORDED
    if left.value > (left.limit or 0):
        return UseState.NEAR if pages and left.signal == "memory.available" and left.value < little else UseState.ROOM
    if not paging:
        return UseState.UNCLEAR
    begun = any(figure.value >= max(value, _GROWN * (figure.before or 0)) for figure in paging)
    return UseState.FULL if pages else UseState.NEAR if begun else UseState.HIGH


def _left(measured: Measured, host: str, load: LoadResponse) -> Figure | None:
    """Return the memory that is left.

    Where the size of the memory is not known, it is at least what was once available; the documented share of that is a
    limit too.
    """
    left = _first(measured, host, load, ("memory.available_percent", "memory.available"))
    if left is not None and left.signal == "memory.available_percent":
        # A small share of much memory is enough, and what is set aside as huge pages is not used up.
        excused = measured.excused(left.signal, left.subject, load.top)
        return replace(left, limit=None, document=None) if excused else left
    if left is None:
        return None
    [(subject, values)] = measured.on("memory.available", host).items()
    if (counting := measured.counting("memory.available", subject, load.top)) is not None:
        left = replace(left, limit=counting.limit, document=counting.document)
    elif measured.excused("memory.available", subject, load.top):
        small = measured.documented(_OF_SMALL, subject)
        left = replace(left, limit=small.limit, document=small.document)
    share = measured.documented(_SHARE, Subject(""))  # bytes for each MB
    limit = share.limit / _MB * float(np.nanmax(values))
    if left.value > limit or limit <= (left.limit or 0):
        return left  # with room: the documented limit says so
    return replace(left, limit=limit, document=share.document)


def _first(measured: Measured, host: str, load: LoadResponse, names: tuple[str, ...]) -> Figure | None:
    """Return the figure of the first of some signals that was recorded."""
    for name in names:
        if (result := measured.of_host(name, host)) is not None:
            figure = figure_of(measured, load, name, *result)
            if not np.isnan(figure.value):
                return figure
    return None


def _begun(paging: Figure | None, value: float) -> Figure | None:
    """Paging held against the limit it is past: that of much, or of having begun; without one if it keeps both."""
    if paging is None or paging.beyond(paging.value):
        return paging
    begun = paging.signal in _PAGES and paging.value >= value
    return replace(paging, limit=value if begun else None, document=OURS if begun else None)


def _most(paging: list[Figure]) -> Figure | None:
    """Return the paging that is furthest above its limit."""
    return max(paging, key=lambda figure: figure.value / (figure.limit or 1), default=None)


def _small_cache(measured: Measured, host: str, load: LoadResponse) -> tuple[Figure, ...] | None:
    """Pages that live too short while databases are read from disk: the cache of SQL Server is too small for them."""
    result = measured.of_host("sql.page_life_expectancy", host)
    reads = measured.on("disk.reads", host)
    if result is None or not reads or _climbs(measured, result[1], load):
        return None
    life = figure_of(measured, load, "sql.page_life_expectancy", *result)
    judged = [
        finding for finding in measured.review.of(*JUDGED) if finding.rule.id in _PAGE_LIFE and _is_of(finding, host)
    ]
    if judged:
        crossed = [finding for finding in judged if finding.outcome in CROSSED]
        held_against = [
            replace(life, limit=limit_of(finding).limit, document=document_of(finding.rule)) for finding in crossed
        ]
        life = next((figure for figure in held_against if figure.beyond(figure.value)), None)
    if life is None or not life.beyond(life.value):
        return None
    figures = [figure_of(measured, load, "disk.reads", subject, values) for subject, values in reads.items()]
    busiest = max(figures, key=lambda figure: np.nan_to_num(figure.value))
    return (life, busiest) if busiest.value >= (busiest.limit or 0) else None


def _climbs(measured: Measured, life: Values, load: LoadResponse) -> bool:
    """Whether page life expectancy climbs by the clock, as it does after a restart while nothing is thrown out."""
    filled = np.flatnonzero(load.top & np.isfinite(life))
    if len(filled) < 2:
        return False
    first, last = int(filled[0]), int(filled[-1])
    seconds = (measured.parts.edges(last)[0] - measured.parts.edges(first)[0]) / SECOND
    return float(life[last] - life[first]) >= _BY_THE_CLOCK * seconds


def _is_of(finding: Finding, host: str) -> bool:
    return finding.subject is not None and host_key(finding.subject.host) == host_key(host)
