"""What a review says in short, to be kept beside its report."""

import time
from collections.abc import Iterator
from importlib.metadata import version

from plimsoll.insights.insights import Insights
from plimsoll.pages.reviewing.kept_reviews import Crossed, KeptReview, Made
from plimsoll.report.first_screen import first_screen
from plimsoll.review.findings import CROSSED
from plimsoll.review.review import Review
from plimsoll.review.sentences import breach_sentence
from plimsoll.review.verdict import Verdict
from plimsoll.rules.severity import SEVERITIES


def kept_review(insights: Insights, rules: str) -> KeptReview:
    """What a review says in short; `rules` is a hash of the rules it was made with."""
    review = insights.review
    crossed = tuple(_crossed(review))
    found = {one.severity for one in crossed}
    severe = review.verdict == Verdict.NOT_HEALTHY
    return KeptReview(
        run=review.run.name or "",
        made=Made(version=version("plimsoll"), rules=rules, at=time.time_ns()),
        verdict=review.verdict.value,
        severity=next((name for name in SEVERITIES if severe and name in found), ""),
        word=review.word.removesuffix("."),
        answer=review.answer,
        crossed=crossed,
        cause=first_screen(insights).cause,
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
