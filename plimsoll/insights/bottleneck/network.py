"""How near the links of a host were to their capacity."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from plimsoll.insights.bottleneck.load_response import LoadResponse
from plimsoll.insights.bottleneck.measured import OURS, Mask, Measured
from plimsoll.insights.bottleneck.resource_use import Figure, ResourceUse, UseState, make_figure
from plimsoll.model.log import Values

# Our choices.
# Link speeds (bit/s) that a throughput just below one suggests, where the adapter gives none.
_USUAL_LINKS = (1e7, 1e8, 1e9, 2.5e9, 1e10, 2.5e10, 4e10, 1e11)
_JUST_BELOW = (0.88, 1.0)  # of a usual link: headers and gaps between frames take the rest
_STEADY = 0.015  # spread of the throughput, of its mean
_SLOW = 0.5  # of 100 Mbit/s: has room on any link of today
_FAST_ETHERNET = 1e8
_DIRECTIONS = (
    ("network.sent", "network.sent_utilization"),
    ("network.received", "network.received_utilization"),
)
_TOTAL = (("network.bytes", "network.total_utilization"),)
_HALF = 50  # %, as the rules: of a total below it, no direction is near its limit
_INVENTED = 110  # %, as the rules: adapters of virtual machines invent a speed


def examine_network(measured: Measured, host: str, load: LoadResponse) -> ResourceUse:
    """Return how near a host's network links were to their speed, by the adapter that was nearest."""
    recorded = [*_list_utilizations(measured, host, load, _DIRECTIONS)]
    totals = [] if recorded else [*_list_utilizations(measured, host, load, _TOTAL)]
    if totals and (most := max((figure for figure, _ in totals), key=lambda figure: figure.value)).value < _HALF:
        return ResourceUse("network", host, UseState.ROOM, (most,))
    invented = {figure.subject for figure, _ in recorded if figure.value > _INVENTED}
    real = [pair for pair in recorded if pair[0].value >= 0 and pair[0].subject not in invented]
    if real:
        busiest, values = max(real, key=lambda pair: pair[0].value)
        state = _find_state(busiest, measured, values, load.top)
        if state == UseState.NEAR and not busiest.is_beyond:
            steady = measured.level(busiest.signal, "high", 0)
            busiest = replace(busiest, limit=steady, document=f"{OURS}: of what hardly varies")
        queued = measured.on("network.output_queue", host).items()
        queues = [make_figure(measured, load, "network.output_queue", *pair) for pair in queued]
        waiting = [figure for figure in queues if figure.subject == busiest.subject and figure.value > 0]
        return ResourceUse("network", host, state, (busiest, *waiting))
    carried = list(_list_throughputs(measured, host, load))
    needed = measured.needed("network", host)
    if not carried:
        return ResourceUse("network", host, UseState.NOT_RECORDED, needed=needed)
    most, values = max(carried, key=lambda pair: pair[0].value)
    low, high = _JUST_BELOW
    link = next((link for link in _USUAL_LINKS if low <= 8 * most.value / link <= high), None)
    if link is not None and _is_steady(values, load.top):
        document = f"our choice: just below the {link / 1e6:,.0f} Mbit/s of a usual link, whose speed is not recorded"
        figure = replace(most, limit=low * link / 8, document=document)
        return ResourceUse("network", host, UseState.NEAR, (figure,), needed=needed)
    if most.value < _SLOW * _FAST_ETHERNET / 8:
        return ResourceUse("network", host, UseState.ROOM, (most,))
    return ResourceUse("network", host, UseState.UNCLEAR, (most,), needed=needed)


def _find_state(figure: Figure, measured: Measured, values: Values, part: Mask) -> UseState:
    if figure.value >= (figure.limit or 100):
        return UseState.FULL if figure.value >= measured.level(figure.signal, "full", 100) else UseState.NEAR
    if figure.value < measured.level(figure.signal, "high", 0):
        return UseState.ROOM
    return UseState.NEAR if _is_steady(values, part) else UseState.HIGH


def _is_steady(values: Values, part: Mask) -> bool:
    """Return whether a throughput hardly varied in `part` of the run, as it does at the limit of a link."""
    chosen = values[part & np.isfinite(values)]
    return len(chosen) >= 5 and float(np.std(chosen)) <= _STEADY * float(np.mean(chosen))


def _list_utilizations(
    measured: Measured, host: str, load: LoadResponse, signals: Sequence[tuple[str, str]]
) -> Iterator[tuple[Figure, Values]]:
    """Yield, for each link in each direction, the utilization (%) as a figure, and the means of the throughput.

    Where the speed of a link was not sampled together with its throughput, the median speed is used.
    """
    links = {subject.key: values for subject, values in measured.on("network.link_percent", host).items()}
    for carried, utilization in signals:
        for subject, values in measured.on(carried, host).items():
            percent = links.get(subject.key)
            value = measured.review.facts.find(subject, "link_bits")
            if value is not None:
                percent = np.full_like(values, value / 800)
            if percent is not None and (samples := percent > 0).any():
                speed = np.where(samples, percent, np.median(percent[samples]))
                yield make_figure(measured, load, utilization, subject, values / speed), values


def _list_throughputs(measured: Measured, host: str, load: LoadResponse) -> Iterator[tuple[Figure, Values]]:
    """Yield the throughput of each adapter, and of all adapters, as a figure and as means in parts of the run."""
    for signal in ("network.bytes", "network.sent", "network.received", "network.bytes_total"):
        for subject, values in measured.on(signal, host).items():
            figure = make_figure(measured, load, signal, subject, values, compared=False)
            if not np.isnan(figure.value):
                yield figure, values
