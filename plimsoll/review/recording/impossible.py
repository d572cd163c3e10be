"""Counters and signals with impossible values: a few values give a remark, many a doubt."""

from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from plimsoll.model.counter_names.name_clues import is_mentioning_needed_counter
from plimsoll.model.counter_names.unrecognised import is_judged
from plimsoll.model.lazy_dataclass import dataclass
from plimsoll.model.log import Log, Values, count_samples
from plimsoll.model.remark import Kind, Remark, format_count, shorten
from plimsoll.model.samples import Samples
from plimsoll.model.value_text import format_value
from plimsoll.review.findings import Doubt, Finding
from plimsoll.review.sentences import format_subject_title
from plimsoll.rules.evaluate import BELOW_ZERO, mark_impossible
from plimsoll.rules.schema.pack import Pack
from plimsoll.rules.states import EVALUATION_INTERVAL

MOST_IMPOSSIBLE = 0.1  # this share of a counter's values makes a doubt


@dataclass(frozen=True)
class BadCounter:
    """A counter, by its path, and what is wrong with its values as a clause: `are below zero`."""

    counter: str
    why: str


_SamplesOf = Callable[[Finding], Samples | None]


def doubt_impossible_values(
    findings: Iterable[Finding], items: Sequence[BadCounter], samples_of: _SamplesOf
) -> Iterator[Doubt]:
    """Yield a doubt about signals of severe rules that were not judged because their values are impossible.

    Signals with many impossible samples are included, as their means are unknown. Signals of the counters `items`,
    which have a doubt already, are left out.
    """
    counters = " ".join(bad_counter.counter.casefold() for bad_counter in items)
    sentences: dict[str, str] = {}
    for finding in findings:
        if not finding.severe or not finding.track or finding.signal.title in sentences:
            continue
        named = (source.path.counter.casefold() for source in finding.signal.sources if source.path and counters)
        if any(counter in counters for counter in named):
            continue
        values = finding.track.impossible
        # One bad sample makes the means of a window impossible; more is a fault.
        count, one_sample = len(values), finding.track.window // EVALUATION_INTERVAL + 1
        judged = int(np.count_nonzero(finding.track.values == finding.track.values)) if count else 0
        if not count or (judged and count <= one_sample + MOST_IMPOSSIBLE * (count + judged)):
            values, count = _select_impossible(finding, samples_of)
            values = values[values < 0]  # values above the maximum may come from an uneven timer
            if len(values) <= MOST_IMPOSSIBLE * count:
                continue
        value = format_value(float(values[0]), finding.signal.unit)
        sentences[finding.signal.title] = f"{format_subject_title(finding)} cannot be {value}"
    if sentences:
        text = f", and so with {format_count(len(sentences) - 1, 'more signal')}" if len(sentences) > 1 else ""
        yield Doubt(f"{next(iter(sentences.values()))}{text}", "such values are not judged")


def remark_impossible_values(findings: Iterable[Finding], samples_of: _SamplesOf) -> Iterator[Remark]:
    """Yield a remark on each signal with impossible samples; `remark_below_zero` covers values below zero."""
    entries: dict[str, list[tuple[Finding, Values, int]]] = {}
    results: set[tuple[str, object]] = set()
    for finding in findings:
        if finding.severe and finding.track and (of := (finding.rule.signal, finding.track.subject.key)) not in results:
            results.add(of)
            values, count = _select_impossible(finding, samples_of)
            values = values[values > BELOW_ZERO]
            if len(values):
                entries.setdefault(finding.rule.signal, []).append((finding, values, count))
    for (finding, values, count), *items in entries.values():
        name = f", and so with {len(items):,} more" if items else ""
        worst = format_value(float(values[np.abs(values).argmax()]), finding.signal.unit)
        such = "such as " if len(values) > 1 else ""
        text = (
            f"{len(values):,} of {format_count(count, 'value')} of {format_subject_title(finding)} cannot be, "
            f"{such}{worst}{name}: where they make a mean impossible, it is not judged"
        )
        yield Remark(Kind.NOTED, text, count=len(values))


def _select_impossible(finding: Finding, samples_of: _SamplesOf) -> tuple[Values, int]:
    """Return the impossible samples of a finding's signal; if any, also the number of all samples of the signal."""
    samples = samples_of(finding)
    values = samples.values if samples else np.empty(0)
    odd = values[mark_impossible(values, finding.signal)]
    odd = odd[np.isfinite(odd)]
    return odd, int(np.count_nonzero(np.isfinite(values))) if len(odd) else 0


def find_bad_counters(logs: Sequence[Log], packs: Sequence[Pack]) -> tuple[BadCounter, ...]:
    """Return the counters with unusable values that shipped rules, or the signals defined in `packs`, need."""
    signals = [signal for pack in packs for signal in pack.signals.values()]
    entries = {source.path.counter.casefold() for signal in signals for source in signal.sources if source.path}
    items = [
        BadCounter(shorten(name, 60), "could not be read")
        for log in logs
        for name in log.unread
        if is_mentioning_needed_counter(name) or any(counter in name.casefold() for counter in entries)
    ]
    below = (pair for log in logs for pair in _list_below_zero(log))
    items += [BadCounter(path, "are below zero") for path, count, of in below if count > MOST_IMPOSSIBLE * of]
    return tuple(dict.fromkeys(items))


def remark_below_zero(logs: Sequence[Log]) -> Iterator[Remark]:
    """Yield remarks on counters with values below zero, which only a fault of the recorder produces.

    Source: Microsoft, Negative Values in Performance Monitor Data (Q177655).
    """
    for log in logs:
        for path, count, of in _list_below_zero(log):
            impossible = "which is impossible for this counter: where they make a mean impossible, it is not judged"
            text = f"{count:,} of {of:,} values below zero, {impossible}"
            yield Remark(Kind.NOTED, text, file=str(log.path), counter=path, count=count)


def _list_below_zero(log: Log) -> Iterator[tuple[str, int, int]]:
    """Yield needed counters with values below zero: path, number of values below zero, number of all values."""
    for at, series in enumerate(log.series):
        if is_judged(series) and (count := int(np.count_nonzero(log.column(at) <= BELOW_ZERO))):
            yield series.path, count, count_samples(log.column(at))
