"""How near a host's processors were to their capacity: all or single processors, one process, or stolen time."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from plimsoll.insights.bottleneck.load_response import LoadResponse
from plimsoll.insights.bottleneck.measured import Measured, cite_document
from plimsoll.insights.bottleneck.resource_use import (
    ONE_PROCESS,
    ONE_PROCESSOR,
    STOLEN,
    Figure,
    ResourceUse,
    UseState,
    make_figure,
)
from plimsoll.model.log import Values
from plimsoll.model.series import make_host_key
from plimsoll.rules.load import load as load_rules
from plimsoll.rules.subjects import Subject

_HIGH = 0.85  # our choice: of the limit
_QUEUE_RULE = "windows-processor-queue"  # judged while the processors are busy, too
_ONE_THREAD = 103.0  # % of one processor: as much as samples of one thread show
_SHARE_BEYOND = 0.02  # our choice: of its samples
_NO_WORK = ("idle", "_total", "system")
_BUSY, _HYPER_V_BUSY = "cpu.busy", "hyper_v.host_busy"


def examine_processors(measured: Measured, host: str, load: LoadResponse) -> ResourceUse:
    """Return how near the processors of a host were to their capacity."""
    with_guests = make_host_key(host) in measured.with_guests
    signal = _HYPER_V_BUSY if with_guests or measured.of_host(_HYPER_V_BUSY, host) else _BUSY
    all_of_them = _find_busy_time(measured, host) if signal == _BUSY else measured.of_host(signal, host)
    if all_of_them is None:
        needed = measured.needed("cpu of guests" if with_guests else "cpu", host)
        return ResourceUse("cpu", host, UseState.NOT_RECORDED, needed=needed)
    busy = make_figure(measured, load, signal, *all_of_them)
    limit = busy.limit or 100
    figures = tuple(_list_supporting_figures(measured, host, load))
    stolen = next((figure for figure in figures if figure.signal == "cpu.steal"), None)
    if stolen is not None and busy.value >= _HIGH * limit:
        beside = (replace(busy, limit=None, document=None), *(figure for figure in figures if figure is not stolen))
        return ResourceUse("cpu", host, UseState.NEAR, (stolen, *beside), aspect=STOLEN)
    if busy.value >= limit:
        state = UseState.FULL if busy.value >= measured.level(signal, "full", 100) else UseState.NEAR
        return ResourceUse("cpu", host, state, (busy, *figures))
    beside = replace(busy, limit=None, document=None)
    full, count = _list_full_processors(measured, host, load)
    queue = next((figure for figure in figures if figure.signal in ("cpu.queue_length", "cpu.load")), None)
    rule = load_rules().rules[_QUEUE_RULE]
    with_queue = next(further.healthy.limit for further in rule.and_ if further.signal == "cpu.busy")
    if busy.value >= with_queue and (queue is not None or load.follows is False or full):
        busy = replace(busy, limit=with_queue, document=cite_document(rule))
        return ResourceUse("cpu", host, UseState.NEAR, (busy, *figures))
    process = _find_one_process(measured, host, load, busy.value)
    if full:
        state = UseState.FULL if full[0].value >= measured.level("cpu.processor_busy", "full", 100) else UseState.NEAR
        by = () if process is None else (process,)
        aspect = ONE_PROCESSOR if len(full) == 1 else f"{len(full):,} of {count:,} processors"
        return ResourceUse("cpu", host, state, (full[0], *by, beside, *figures), aspect=aspect)
    if process is not None:
        return ResourceUse("cpu", host, UseState.NEAR, (process, beside, *figures), aspect=ONE_PROCESS)
    state = UseState.HIGH if busy.value >= _HIGH * limit else UseState.ROOM
    return ResourceUse("cpu", host, state, (busy, *figures))


def _find_busy_time(measured: Measured, host: str) -> tuple[Subject, Values] | None:
    """Return the busy time of all processors: their total, else their mean; None if neither was recorded."""
    if (total := measured.of_host("cpu.busy", host)) is not None:
        return total
    values = measured.on("cpu.processor_busy", host)
    return (Subject(host), np.mean(list(values.values()), axis=0)) if values else None


def _list_full_processors(measured: Measured, host: str, load: LoadResponse) -> tuple[list[Figure], int]:
    """Return the processors at or past their limit, the busiest first, and the number of recorded processors."""
    values = measured.on("cpu.processor_busy", host)
    figures = [make_figure(measured, load, "cpu.processor_busy", *pair) for pair in values.items()]
    full = [figure for figure in figures if figure.value >= (figure.limit or 100)] if len(values) > 1 else []
    return sorted(full, key=lambda figure: -figure.value), len(values)


def _find_one_process(measured: Measured, host: str, load: LoadResponse, busy: float) -> Figure | None:
    """Return the figure of a process that constantly used one of several processors, as a busy single thread does.

    None without such a process, or if the number of processors is unknown.
    """
    number = measured.review.facts.find(Subject(host), "processors")
    if number is None or number < 2 or busy < 80 / number:
        return None
    for subject, values in measured.on("process.cpu", host).items():
        if (subject.instance or "").casefold() in _NO_WORK:
            continue
        raw = measured.review.signals.of("process.cpu").get(subject)
        if raw is not None and float(np.mean(raw.present.values > _ONE_THREAD)) > _SHARE_BEYOND:
            continue  # several threads
        chosen = values[load.top & np.isfinite(values)]
        figure = make_figure(measured, load, "process.cpu", subject, values)
        if len(chosen) and figure.beyond(float(np.percentile(chosen, 15))) and np.percentile(chosen, 85) <= _ONE_THREAD:
            return figure
    return None


def _list_supporting_figures(measured: Measured, host: str, load: LoadResponse) -> Iterator[Figure]:
    """Yield figures to show beside busy time: queue, load and stolen time if past their limit, and context switches."""
    for signal in ("cpu.queue_length", "cpu.load", "cpu.steal"):
        if (result := measured.of_host(signal, host)) is not None and not measured.excused(signal, result[0], load.top):
            figure = make_figure(measured, load, signal, *result)
            if figure.limit is not None and figure.value > figure.limit:
                yield figure
    if (result := measured.of_host("cpu.context_switches", host)) is not None:
        yield make_figure(measured, load, "cpu.context_switches", *result, compared=False)
