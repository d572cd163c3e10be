"""The instants of samples, which bear the local time of the computer that recorded them."""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from plimsoll.ingest.formats.blg.container import LogFile, Message
from plimsoll.ingest.formats.blg.refused import Refused
from plimsoll.ingest.shared.clock_rules import EARLIEST, LATEST
from plimsoll.model.remark import Kind, Remarks, counted
from plimsoll.model.times import offset_text

_UNIX = 116_444_736_000_000_000  # 1970 as a FILETIME
_MINUTE = 600_000_000  # in units of 100 ns
_HOUR = 60 * _MINUTE
_SLACK = _MINUTE
_QUARTER = 15  # minutes: clocks are ahead of UTC by whole ones
_MOST = 24 * 60

Offsets = NDArray[np.int64]


def offsets_of(
    samples: Sequence[Message], clocks: Iterable[NDArray[np.int64]], header: LogFile, remarks: Remarks
) -> Offsets:
    """How many minutes the clock of each sample, in file order, was ahead of UTC.

    `clocks` are those of the recorded counters, UTC as FILETIMEs and 0 where there is none. Where none is, the offset
    is one of the header's two: that of the first sample by the time the recording began, and of later ones by the
    times at which buffers were written.
    """
    stamps = np.array([one.stamp for one in samples], dtype=np.int64)
    if ((stamps < EARLIEST // 100 + _UNIX) | (stamps > LATEST // 100 + _UNIX)).any():
        raise Refused("is damaged: a sample has a time in a year in which nobody recorded")
    usual = np.array(sorted(set(header.offsets)), dtype=np.int64)
    found = np.zeros(len(stamps), dtype=np.int64)
    known = np.zeros(len(stamps), dtype=bool)
    sure = np.zeros(len(stamps), dtype=bool)
    for clock in clocks:
        offset = np.rint((stamps - clock) / _MINUTE).astype(np.int64)
        may_be = (clock > 0) & (np.abs(offset) < _MOST)
        is_sure = may_be & np.isin(offset, usual)
        taken = is_sure & ~sure | may_be & ~known
        found[taken] = offset[taken]
        known |= may_be
        sure |= is_sure
    odd = known & ~sure & (found % _QUARTER != 0)
    if odd.any():
        text = f"{counted(int(odd.sum()), 'sample')} recorded of a computer whose clock differs from the recorder's"
        remarks.add(Kind.GUESSED, f"{text}: the offset to UTC is the nearest of the header's", count=int(odd.sum()))
        found[odd] = usual[np.abs(found[odd, None] - usual).argmin(axis=1)]
    if not known.all():
        _by_header(found, known, samples, header)
    return found


def instants(samples: Sequence[Message], offsets: Offsets) -> NDArray[np.int64]:
    """The instants (UTC, ns) of samples in file order. Refused if two are the same."""
    stamps = np.array([one.stamp for one in samples], dtype=np.int64)
    found = (stamps - _UNIX - offsets * _MINUTE) * 100
    if len(np.unique(found)) < len(found):
        raise Refused("holds two samples of one time")
    return found


def tell_changes(offsets: Offsets, remarks: Remarks) -> None:
    """Remark changes of the clock; `offsets` are in the order of time."""
    for at in np.flatnonzero(np.diff(offsets)).tolist():
        before, after = (f"UTC{offset_text(int(one))}" for one in offsets[at : at + 2])
        text = f"the clock changes from {before} to {after} before sample {at + 2}: times are shown at the first offset"
        remarks.add(Kind.NOTED, text)


def _by_header(found: Offsets, known: NDArray[np.bool_], samples: Sequence[Message], header: LogFile) -> None:
    """Fill in the offsets of samples without a clock."""
    last: int | None = None
    stamp = 0
    for at, sample in enumerate(samples):
        if not known[at]:
            choices = sorted(
                set(header.offsets),
                key=lambda offset: (offset != last, abs(sample.stamp - offset * _MINUTE - header.started)),
            )
            fitting = [one for one in choices if _fits(sample, one)]
            if last is not None and sample.stamp < stamp and last in fitting[:1]:
                fitting = fitting[1:]  # the clock went back, as at the end of summer time
            found[at] = (fitting or choices)[0]
        last, stamp = int(found[at]), sample.stamp


def _fits(sample: Message, offset: int) -> bool:
    """Whether the sample was written between the times of its buffers."""
    utc = sample.stamp - offset * _MINUTE
    return (not sample.after or utc >= sample.after - _SLACK) and (not sample.before or utc <= sample.before + _SLACK)
