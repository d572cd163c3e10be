"""Recorded values that rules may need and that say nothing: they could not be read, or cannot be right."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from model.log import Log
from model.names import is_judged
from model.remark import Kind, Remark, short
from model.strange_names import is_about_judged
from rules.schema import Pack

_BELOW_ZERO = -1  # what is nearer is a matter of rounding
_MOST_BELOW_ZERO = 0.1  # of a counter's values, before nothing is said of its health


@dataclass(frozen=True)
class Unsound:
    """A counter, as people know it, and what its values are."""

    counter: str
    why: str


def unsound(logs: Sequence[Log], packs: Sequence[Pack]) -> tuple[Unsound, ...]:
    """Counters by which nobody can tell that the run was good, those of the packs' own signals among them."""
    signals = [signal for pack in packs for signal in pack.signals.values()]
    own = {source.path.counter.casefold() for signal in signals for source in signal.sources if source.path}
    found = [
        Unsound(short(name, 60), "could not be read")
        for log in logs
        for name in log.unread
        if is_about_judged(name) or any(counter in name.casefold() for counter in own)
    ]
    below = (one for log in logs for one in _below_zero(log))
    found += [Unsound(path, "are below zero") for path, count, of in below if count > _MOST_BELOW_ZERO * of]
    return tuple(dict.fromkeys(found))


def remarks_below_zero(logs: Sequence[Log]) -> Iterator[Remark]:
    """Where a counter that rules need counts below zero, as none does but for a fault of its recorder.

    Source: Microsoft, Negative Values in Performance Monitor Data (Q177655).
    """
    for log in logs:
        for path, count, of in _below_zero(log):
            told = (
                f"{count:,} of {of:,} values below zero, as nothing is that this counts: they are judged as they stand"
            )
            yield Remark(Kind.NOTED, told, file=str(log.path), counter=path, count=count)


def _below_zero(log: Log) -> Iterator[tuple[str, int, int]]:
    """Counters that rules need: how many of their values are below zero, and how many there are."""
    for series, column in zip(log.series, log.columns, strict=True):
        if is_judged(series) and (count := int((column <= _BELOW_ZERO).sum())):
            yield series.path, count, len(column) - column.null_count()
