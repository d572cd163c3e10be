"""Hosts alike that share work: one does next to nothing while the others take over its share, so it may have failed."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from plimsoll.analysis.filters import filter_median, find_runs
from plimsoll.model.log import Values
from plimsoll.model.remark import join_names
from plimsoll.model.run import Planned
from plimsoll.model.samples import Samples
from plimsoll.model.times import SECOND, format_duration
from plimsoll.review.doubts import compute_long_absence
from plimsoll.review.findings import Doubt
from plimsoll.review.phases.found_phases import average_on_grid
from plimsoll.review.recorded_signals import RecordedSignals

_BUSY, _PACKETS = "cpu.busy", ("network.bytes_total", "network.sent")
# Our choices.
_USUAL, _LEAST_BUSY = 0.75, 5.0  # the quantile that is a host's usual work; %: less shows nothing
_ALIKE = 1.5  # times as busy as the others at most, while all work
_IDLE = 0.3  # of what is usual
_TAKEN = 0.5  # of its share, at least, is done by the others
_FEWEST = 3  # samples
_BESIDE = 600 * SECOND  # before and after a begin or an end, as work rises and falls with the day


def doubt_hosts_without_share(recorded: RecordedSignals, planned: Sequence[Planned]) -> Iterator[Doubt]:
    """Yield a doubt about each host that did next to nothing for long, while hosts alike did more than before."""
    busy = {subject.host: of.present for subject, of in recorded.of(_BUSY).items() if of.any_present and of.interval}
    if len(busy) < 2:
        return
    step = max(samples.interval or 0 for samples in busy.values())
    start, end = (pick(int(of.times[at]) for of in busy.values()) for pick, at in ((min, 0), (max, -1)))
    start -= step // 2  # samples that jitter stay in steps of their own
    rows = (end - start) // step + 1

    def spread(samples: Samples) -> Values:
        return average_on_grid(samples.present.between(start, end), start, step, rows)

    work = {host: spread(samples) for host, samples in busy.items()}
    for host, values in work.items():
        moved = next((spread(of) for name in _PACKETS for of in recorded.on(name, host).values()), values)
        if not (np.isfinite(values).any() and np.isfinite(moved).any()):
            continue
        shares = [of / max(float(np.nanquantile(of, _USUAL)), 1e-9) for of in (values, moved)]
        idle = filter_median(np.maximum(*shares), 5, "edge") < _IDLE
        first, stop = max(find_runs(idle), key=lambda run: run[1] - run[0], default=(0, 0))
        begin, until = start + first * step, start + stop * step
        if stop - first < _FEWEST or until - begin <= compute_long_absence(end - start):
            continue
        substitutes = _find_substitutes(work, host, (first, stop), max(_FEWEST, min(_BESIDE // step, stop - first)))
        if substitutes and not any(period.covers(begin, until) for period in planned):
            text = f"{host} did next to nothing for {format_duration(until - begin)} while {join_names(substitutes, 2)}"
            yield Doubt(f"{text} did more than before", "see whether it was meant to be out of service")


def _find_substitutes(work: Mapping[str, Values], host: str, away: tuple[int, int], rows: int) -> list[str]:
    """Return the hosts as busy as `host` at other times, if they took over much of its share while it was `away`.

    They are compared over some `rows` on both sides of its begin and its end.
    """
    first, stop = away
    sides = [
        (slice(first - rows, first), slice(first, first + rows)),
        (slice(stop, stop + rows), slice(stop - rows, stop)),
    ]
    sides = [(beside, within) for beside, within in sides if beside.start >= 0 and beside.stop <= len(work[host])]
    parts = [part for pair in sides for part in pair]
    work = {name: values for name, values in work.items() if all(np.isfinite(values[part]).any() for part in parts)}
    if not sides or host not in work:
        return []
    level = {name: np.mean([np.nanmedian(values[beside]) for beside, _ in sides]) for name, values in work.items()}
    during = {name: np.mean([np.nanmedian(values[within]) for _, within in sides]) for name, values in work.items()}
    alike = [name for name in work if level[name] * _ALIKE >= level[host] >= level[name] / _ALIKE and name != host]
    if not alike or min(level[name] for name in (host, *alike)) < _LEAST_BUSY:
        return []
    gained = sum(during[name] - level[name] for name in alike)
    return alike if gained >= _TAKEN * (level[host] - during[host]) else []
