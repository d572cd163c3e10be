"""Counters that rules may need and whose values could not be read or cannot be right."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from plimsoll.model.counter_names.name_clues import mentions_needed_counter
from plimsoll.model.counter_names.unrecognised import is_judged
from plimsoll.model.log import Log
from plimsoll.model.remark import Kind, Remark, short
from plimsoll.rules.possible import BELOW_ZERO
from plimsoll.rules.schema.pack import Pack

MOST_IMPOSSIBLE = 0.1  # the share of a counter's values from which the run is not known to be healthy


@dataclass(frozen=True)
class BadCounter:
    """A counter, by its path, and what is wrong with its values."""

    counter: str
    why: str


def bad_counters(logs: Sequence[Log], packs: Sequence[Pack]) -> tuple[BadCounter, ...]:
    """Counters whose bad values leave it unknown whether the run was good; those of the packs' own signals as well."""
    signals = [signal for pack in packs for signal in pack.signals.values()]
    own = {source.path.counter.casefold() for signal in signals for source in signal.sources if source.path}
    found = [
        BadCounter(short(name, 60), "could not be read")
        for log in logs
        for name in log.unread
        if mentions_needed_counter(name) or any(counter in name.casefold() for counter in own)
    ]
    below = (one for log in logs for one in _below_zero(log))
    found += [BadCounter(path, "are below zero") for path, count, of in below if count > MOST_IMPOSSIBLE * of]
    return tuple(dict.fromkeys(found))


def remarks_below_zero(logs: Sequence[Log]) -> Iterator[Remark]:
    """Remarks on counters with values below zero, which only a fault of the recorder produces.

    Source: Microsoft, Negative Values in Performance Monitor Data (Q177655).
    """
    for log in logs:
        for path, count, of in _below_zero(log):
            impossible = "which is impossible for this counter: where they make a mean impossible, it is not judged"
            text = f"{count:,} of {of:,} values below zero, {impossible}"
            yield Remark(Kind.NOTED, text, file=str(log.path), counter=path, count=count)


def _below_zero(log: Log) -> Iterator[tuple[str, int, int]]:
    """Counters that rules need and that have values below zero: path, number of those, number of all values."""
    for series, column in zip(log.series, log.columns, strict=True):
        if is_judged(series) and (count := int((column <= BELOW_ZERO).sum())):
            yield series.path, count, len(column) - column.null_count()
