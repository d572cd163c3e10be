"""Signals with values that they cannot have: a few are remarks, many a doubt."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from plimsoll.model.counter_names.name_clues import mentions_needed_counter
from plimsoll.model.counter_names.unrecognised import is_judged
from plimsoll.model.log import Log, Values
from plimsoll.model.remark import Kind, Remark, counted, short
from plimsoll.model.samples import Samples
from plimsoll.model.value_text import quantity
from plimsoll.review.findings import Doubt, Finding
from plimsoll.review.sentences import subject_title
from plimsoll.rules.grid import EVERY
from plimsoll.rules.possible import BELOW_ZERO, impossible
from plimsoll.rules.schema.pack import Pack
from plimsoll.rules.tracks import Track

MOST_IMPOSSIBLE = 0.1  # the share of a counter's values from which the run is not known to be healthy


@dataclass(frozen=True)
class BadCounter:
    """A counter, by its path, and what is wrong with its values."""

    counter: str
    why: str


_SamplesOf = Callable[[Finding], Samples | None]


def impossible_values(
    findings: Iterable[Finding], known: Sequence[BadCounter], samples_of: _SamplesOf
) -> Iterator[Doubt]:
    """Signals of warning and critical thresholds that were not judged at times, as their values cannot be.

    Nor is it known what a mean was that can be, of many samples that cannot.
    """
    counters = " ".join(one.counter.casefold() for one in known)
    found: dict[str, str] = {}
    for one in findings:
        named = any(source.path and source.path.counter.casefold() in counters for source in one.signal.sources)
        if named or not one.severe or not one.track or one.signal.title in found:
            continue
        values = one.track.impossible[~np.isnan(one.track.impossible)]
        if not _is_impossible(one.track):
            values, count = _samples(one, samples_of)
            values = values[values < 0]  # those above the highest may be of a timer that runs unevenly
            if len(values) <= MOST_IMPOSSIBLE * count:
                continue
        found[one.signal.title] = f"{subject_title(one)} cannot be {quantity(float(values[0]), one.signal.unit)}"
    if found:
        more = f", and so with {counted(len(found) - 1, 'more signal')}" if len(found) > 1 else ""
        yield Doubt(f"{next(iter(found.values()))}{more}", "such values are not judged")


def remarks_on_impossible(findings: Iterable[Finding], samples_of: _SamplesOf) -> Iterator[Remark]:
    """A remark on each signal with samples that cannot be. Values of -1 and less have a remark on their counter."""
    found: dict[str, list[tuple[Finding, Values, int]]] = {}
    seen: set[tuple[str, object]] = set()
    for one in findings:
        if one.severe and one.track and (of := (one.rule.signal, one.track.subject.key)) not in seen:
            seen.add(of)
            values, count = _samples(one, samples_of)
            values = values[values > BELOW_ZERO]
            if len(values):
                found.setdefault(one.rule.signal, []).append((one, values, count))
    for (one, values, count), *others in found.values():
        more = f", and so with {len(others):,} more" if others else ""
        worst = quantity(float(values[np.abs(values).argmax()]), one.signal.unit)
        such = "such as " if len(values) > 1 else ""
        text = (
            f"{len(values):,} of {counted(count, 'value')} of {subject_title(one)} cannot be, {such}{worst}{more}: "
            "where they make a mean impossible, it is not judged"
        )
        yield Remark(Kind.NOTED, text, count=len(values))


def _samples(finding: Finding, samples_of: _SamplesOf) -> tuple[Values, int]:
    """The samples of a finding's signal that cannot be, and how many samples there are."""
    samples = samples_of(finding)
    if samples is None:
        return np.empty(0), 0
    values = samples.present.values
    return values[impossible(values, finding.signal)], len(values)


def _is_impossible(track: Track) -> bool:
    """Whether more of the values cannot be than one bad sample makes impossible, or all."""
    count, others = int((~np.isnan(track.impossible)).sum()), int((~np.isnan(track.values)).sum())
    one_sample = track.window // EVERY + 1
    return count > 0 and (not others or count > one_sample + MOST_IMPOSSIBLE * (count + others))


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
