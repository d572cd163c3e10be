"""How near the memory of a host was to its capacity."""

from dataclasses import replace

import numpy as np

from plimsoll.insights.bottleneck.load_response import LoadResponse
from plimsoll.insights.bottleneck.measured import OURS, Measured, cite_document
from plimsoll.insights.bottleneck.resource_use import SQL_CACHE, Figure, ResourceUse, UseState, make_figure
from plimsoll.model.log import Values
from plimsoll.model.series import make_host_key
from plimsoll.model.times import SECOND
from plimsoll.review.findings import CROSSED, JUDGED
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


def examine_memory(measured: Measured, host: str, load: LoadResponse) -> ResourceUse:
    """Return how near a host's memory was to its capacity, from its free memory and its paging."""
    left = _find_free_memory(measured, host, load)
    paging = [first for name in _PAGING if (first := _find_first_figure(measured, host, load, (name,))) is not None]
    little = measured.documented(_LITTLE, Subject(host)).limit
    level = measured.level("memory.pages", "high", 0.0)
    stalled = _find_first_figure(measured, host, load, ("memory.stalled", "memory.waited_for"))
    most = max(paging, key=lambda figure: figure.value / (figure.limit or 1), default=None)
    if most is not None and not most.is_beyond:  # compared with the limit for heavier paging, if paging began
        begun = most.signal in _PAGES and most.value >= level
        most = replace(most, limit=level if begun else None, document=OURS if begun else None)
    shown = tuple(figure for figure in (left, most) if figure is not None)
    if stalled is not None and stalled.value > (stalled.limit or 0):
        return ResourceUse("memory", host, UseState.FULL, (stalled, *shown))
    if (cache := _find_small_cache(measured, host, load)) is not None:
        return ResourceUse("memory", host, UseState.NEAR, (*cache, *shown), aspect=SQL_CACHE)
    needed = "" if left and paging else measured.needed("memory", host)
    return ResourceUse("memory", host, _find_state(left, paging, little, level), shown, needed=needed)


def _find_state(left: Figure | None, paging: list[Figure], little: float, level: float) -> UseState:
    much = {figure.signal for figure in paging if figure.value >= (figure.limit or 0)}
    if left is None:
        swaps = much.issuperset(_SWAPPING)
        return UseState.NEAR if swaps else UseState.UNCLEAR if paging else UseState.NOT_RECORDED
    if left.value > (left.limit or 0):
        return UseState.NEAR if much and left.signal == "memory.available" and left.value < little else UseState.ROOM
    if not paging:
        return UseState.UNCLEAR
    begun = any(figure.value >= max(level, _GROWN * (figure.before or 0)) for figure in paging)
    return UseState.FULL if much else UseState.NEAR if begun else UseState.HIGH


def _find_free_memory(measured: Measured, host: str, load: LoadResponse) -> Figure | None:
    """Return the free memory as a figure with its limit; None if free memory was not recorded.

    The limit of an amount is the larger of the rule's limit and the documented share of the host's memory. The most
    memory that was ever available stands for the host's memory.
    """
    left = _find_first_figure(measured, host, load, ("memory.available_percent", "memory.available"))
    if left is not None and left.signal == "memory.available_percent":
        # A small share of much memory is enough, and reserved huge pages are not used up.
        excused = left.is_beyond and measured.excused(left.signal, left.subject, load.top)
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


def _find_first_figure(measured: Measured, host: str, load: LoadResponse, names: tuple[str, ...]) -> Figure | None:
    """Return the figure of the first signal in `names` that was recorded; None if none was."""
    for name in names:
        if (recorded := measured.of_host(name, host)) is not None:
            figure = make_figure(measured, load, name, *recorded)
            if not np.isnan(figure.value):
                return figure
    return None


def _find_small_cache(measured: Measured, host: str, load: LoadResponse) -> tuple[Figure, ...] | None:
    """Return page life expectancy and disk reads if they show that SQL Server's cache is too small; else None.

    With too small a cache, pages are evicted too soon, and read from disk again.
    """
    recorded = measured.of_host("sql.page_life_expectancy", host)
    reads = measured.on("disk.reads", host)
    if recorded is None or not reads or _is_growing_with_time(measured, recorded[1], load):
        return None
    life: Figure | None = make_figure(measured, load, "sql.page_life_expectancy", *recorded)
    judged = [
        finding
        for finding in measured.review.of(*JUDGED)
        if finding.rule.id in _PAGE_LIFE
        and finding.subject
        and make_host_key(finding.subject.host) == make_host_key(host)
    ]
    if judged:
        crossed = [finding for finding in judged if finding.outcome in CROSSED]
        by_limit = [replace(life, limit=limit_of(f).limit, document=cite_document(f.rule)) for f in crossed]
        life = next((figure for figure in by_limit if figure.is_beyond), None)
    if life is None or not life.is_beyond:
        return None
    figures = [make_figure(measured, load, "disk.reads", subject, values) for subject, values in reads.items()]
    busiest = max(figures, key=lambda figure: np.nan_to_num(figure.value))
    return (life, busiest) if busiest.value >= (busiest.limit or 0) else None


def _is_growing_with_time(measured: Measured, life: Values, load: LoadResponse) -> bool:
    """Return whether page life expectancy grows about as fast as time passes: then hardly any page is evicted."""
    filled = np.flatnonzero(load.top & np.isfinite(life))
    if len(filled) < 2:
        return False
    first, last = int(filled[0]), int(filled[-1])
    seconds = (measured.parts.edges(last)[0] - measured.parts.edges(first)[0]) / SECOND
    return float(life[last] - life[first]) >= _BY_THE_CLOCK * seconds
