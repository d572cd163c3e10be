"""What a review says in short, and the statistics of the signals that were recorded, to be kept beside its report."""

import time
from collections.abc import Iterator
from importlib.metadata import version

from pages.kept_reviews import Crossed, KeptReview, Levels, Made, Recorded, SignalLevels
from review.findings import CROSSED, SEVERITIES
from review.review import Review
from review.sentences import breach_sentence
from review.statistics import WHOLE_RUN, figures, weights_of
from review.verdict import Verdict, verdict_text

_MOST_SIGNALS = 5000


def kept_review(review: Review, rules: str) -> KeptReview:
    """What a review says in short; `rules` is a hash of the rules it was made with."""
    crossed = tuple(_crossed(review))
    found = {one.severity for one in crossed}
    severe = review.verdict == Verdict.NOT_HEALTHY
    return KeptReview(
        run=review.run.name or "",
        made=Made(version=version("plimsoll"), rules=rules, at=time.time_ns()),
        verdict=review.verdict.value,
        severity=next((name for name in SEVERITIES if severe and name in found), ""),
        word=verdict_text(review.verdict).removesuffix("."),
        answer=review.answer,
        crossed=crossed,
    )


def _crossed(review: Review) -> Iterator[Crossed]:
    """The worst finding of each signal and subject that was crossed, the worst first."""
    seen: set[object] = set()
    for one in review.of(*CROSSED):
        subject = one.subject
        if subject is None or one.superseded_by or (key := (one.rule.signal, subject.key)) in seen:
            continue
        seen.add(key)
        yield Crossed(
            signal=one.rule.signal,
            title=one.signal.title,
            host=subject.host,
            instance=subject.instance,
            severity=one.rule.severity,
            sentence=breach_sentence(one),
        )


def recorded(review: Review) -> Recorded:
    """The hosts of a run, and the statistics of its signals; judged ones come first."""
    phases = tuple((one.name, one.start, one.end) for one in review.phases)
    found: list[SignalLevels] = []
    if review.start is not None and review.end is not None:
        spans = ((WHOLE_RUN, review.start, review.end), *phases)
        found = [*_signals(review, spans)][:_MOST_SIGNALS]
    return Recorded(hosts=review.hosts, phases=phases, signals=tuple(found))


def _signals(review: Review, spans: tuple[tuple[str, int, int], ...]) -> Iterator[SignalLevels]:
    signals = review.signals
    judged = dict.fromkeys(one.rule.signal for one in review.findings if one.track is not None)
    for name in dict.fromkeys((*judged, *review.question.signals)):
        signal = review.question.signals[name]
        low = signal.worse == "lower"
        for subject, samples in signals.of(name).items():
            weights = weights_of(samples)
            levels: dict[str, Levels] = {}
            for phase, start, end in spans:
                one = figures(samples, weights, start, end)
                high = one.p5 if low else one.p95
                if one.mean is None or high is None or one.minimum is None or one.maximum is None:
                    continue
                levels[phase] = Levels(
                    mean=one.mean, high=high, lowest=one.minimum, highest=one.maximum, samples=one.samples
                )
            yield SignalLevels(
                signal=name,
                title=signal.title,
                unit=signal.unit,
                low_is_bad=low,
                host=subject.host,
                instance=subject.instance,
                phases=levels,
            )
