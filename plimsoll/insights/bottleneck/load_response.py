"""The part of a run with the highest load, and whether the work still followed the load there."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from plimsoll.analysis.filters import compute_median
from plimsoll.analysis.response import (
    Response,
    compute_response,
    find_highest,
    is_rising_to_its_end,
    is_varied,
    select_top,
)
from plimsoll.analysis.significance import rank_values
from plimsoll.insights.bottleneck.measured import Mask, Measured
from plimsoll.model.lazy_dataclass import dataclass
from plimsoll.model.log import Values
from plimsoll.review.phases.found_phases import Load

# Our choices.
_VARIES = 1.5  # times: from there on a load is one that was changed
_TOP, _TOP_OF_WORK = 0.9, 0.85  # of the highest load: what counts as the highest load
_LOW = 0.5
_BEFORE = 0.66  # of the highest load: below, work goes with connections if they have to do with each other
_FOLLOWS, _FLAT = 0.8, 0.4  # elasticity
_AT_LEAST, _AT_MOST = 0.55, 0.75  # what it may be at the far end of its error
_LATER = 0.1  # of the run
_STILL_RISES = 1.15
_GO_TOGETHER = 0.3  # rank correlation of connections and work
_LEAST_BUSY = 0.2  # our choice: of the run
_FEWEST_BUSY = 3
_HIGH_IS_NEAR = (
    "cpu.busy",
    "hyper_v.host_busy",
    "disk.busy_total",
    "network.sent_utilization",
    "network.received_utilization",
)
_LOW_IS_NEAR = ("disk.idle", "disk.idle_total", "memory.available", "memory.available_percent")


@dataclass(frozen=True)
class LoadResponse:
    """The load of a run, and how the work followed it.

    Attributes:
        offered: The load put on the system (connections); None if it was not recorded, or hardly changed.
        work: The throughput (operations, else bytes); None if it was not recorded.
        top: The part of the run to examine: with the highest load, or as `busy` or `fell` say; without a load, the
            whole run.
        low: The part of the run to compare with `top`: with at most half of the highest load, or not busy; None without
            it.
        constant: Whether the work hardly changed.
        follows: Whether the work followed the load up to the highest load; None if unknown.
        response: How the work grew with the offered load; None if that is not known.
        busy: Whether `top` is the longest part of the run in which a resource was near its capacity, as no load is
            recorded.
        fell: The highest work and the work during `top`, if `top` is the time after the highest work; else None.
    """

    offered: Load | None
    work: Load | None
    top: Mask
    low: Mask | None
    follows: bool | None
    response: Response | None
    fell: tuple[float, float] | None = None
    busy: bool = False
    constant: bool = False

    @property
    def load(self) -> Load | None:
        """The load whose highest values define `top`: the offered load, else the work; None if neither is recorded."""
        return self.offered or self.work


def load_response(measured: Measured, loads: Sequence[Load]) -> LoadResponse:
    """Find the part of a run with the highest load, and whether the work still followed the load there.

    The offered load is the number of connections, if that number changed during the run, and if the work (where
    recorded) changed with it.
    """
    works = (load for kind in ("operations", "bytes") for load in loads if load.kind == kind)
    work = next(works, None)
    done = measured.parts.means(work.samples) if work else None
    for offered in (load for load in loads if load.kind == "connections"):
        put = measured.parts.means(offered.samples)
        if is_varied(put, _VARIES) and (
            done is None or not is_varied(done, _VARIES) or _is_growing_together(put, done)
        ):
            grown = compute_response(put, done) if done is not None else None
            return LoadResponse(
                offered, work, select_top(put, _TOP), _select_low_load(put), _is_following(grown), grown
            )
    if work is None or done is None or not np.isfinite(done).any():
        return LoadResponse(None, None, np.ones(measured.parts.count, dtype=bool), None, None, None)
    most = select_top(done, _TOP_OF_WORK)
    if not is_varied(done, _VARIES):
        constant = float(np.nanmax(done)) < _VARIES * float(np.nanmin(done))
        return LoadResponse(None, work, most, None, None, None, constant=constant)
    rises = is_rising_to_its_end(done, _STILL_RISES)
    return LoadResponse(None, work, most, _select_low_load(done, before=most), True if rises else None, None)


def _is_growing_together(put: Values, done: Values) -> bool:
    """Return whether the work (`done`) grew with the connections (`put`), at least until the work levelled off."""
    both = np.isfinite(put) & np.isfinite(done)
    lower = both & (put <= _BEFORE * find_highest(put))
    return any(  # constant values have no rank correlation
        mask.sum() > 3
        and np.ptp(put[mask]) > 0
        and np.ptp(done[mask]) > 0
        and float(np.corrcoef(rank_values(put[mask]), rank_values(done[mask]))[0, 1]) >= _GO_TOGETHER
        for mask in (lower, both)
    )


def _select_low_load(load: Values, before: Mask | None = None) -> Mask | None:
    """Return the rows in which the load is at most half of its highest value; None if these are fewer than two rows.

    If the load is the work, only rows before the first row of the highest work (`before`) count, as trouble may have
    lowered later work.
    """
    mask = np.isfinite(load) & (load <= _LOW * find_highest(load)) & (load > 0)
    if before is not None:
        mask[np.argmax(before) :] = False
    return mask if mask.sum() >= 2 else None


def _is_following(grown: Response | None) -> bool | None:
    """Return True if the work certainly followed the load, False if it certainly did not, None if neither is sure."""
    if grown and grown.elasticity >= _FOLLOWS and grown.elasticity - grown.error >= _AT_LEAST:
        return True
    return False if grown and grown.elasticity <= _FLAT and grown.elasticity + grown.error <= _AT_MOST else None


def find_response_after_peak(measured: Measured, load: LoadResponse) -> LoadResponse | None:
    """Return the load response for the time after the highest work; None if that time is short.

    None also if the offered load is recorded, which tells why the work fell. Without a recorded load, a resource that
    is used up after the highest work explains the fall; otherwise the load may have been removed.
    """
    if load.offered is not None or load.work is None:
        return None
    done = measured.parts.means(load.work.samples)
    first = int(np.flatnonzero(load.top)[0]) if load.top.any() else 0
    later = np.isfinite(done) & ~load.top & (np.arange(len(done)) > first)
    if later.mean() < _LATER:
        return None
    return replace(load, top=later, follows=False, fell=(compute_median(done[load.top]), compute_median(done[later])))


def find_busy_part(measured: Measured, load: LoadResponse) -> LoadResponse | None:
    """Return the load response for the longest part of the run in which a resource was near its capacity.

    None if there is no such part, or if a load other than bytes is recorded.
    """
    if load.offered is not None or (load.work is not None and load.work.kind != "bytes"):
        return None
    part = max(_list_near_rows(measured), key=lambda mask: int(mask.sum()), default=None)
    if part is None or part.sum() < _FEWEST_BUSY or part.mean() < _LEAST_BUSY:
        return None
    rest = ~part if (~part).sum() >= _FEWEST_BUSY else None
    return replace(load, top=part, low=rest, follows=None, response=None, busy=True)


def _list_near_rows(measured: Measured) -> Iterator[Mask]:
    """Yield, for each signal and subject that shows a resource, the rows with the resource near its capacity."""
    for signal in (*_HIGH_IS_NEAR, *_LOW_IS_NEAR):
        for subject, values in measured.of(signal).items():
            bound = measured.bound(signal, subject)
            if bound is not None:
                yield values <= bound.limit if signal in _LOW_IS_NEAR else values >= bound.limit
