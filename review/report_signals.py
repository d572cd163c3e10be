"""The signals a report shows beside the judged ones: what a rule says to look at, and statistics."""

from collections.abc import Mapping

from model.samples import Recorded, Samples
from model.series import Series
from review.recorded import drawn
from review.review import Review
from rules.signals import Finder, Subject


class Signals:
    """The signals of a review as they were recorded, in their own units."""

    def __init__(self, review: Review) -> None:
        self._review = review
        self._recorded = Recorded(review.logs)
        self._cache: dict[object, Samples] = {}
        self._finder = Finder(
            review.question.signals, self._recorded.series, lambda one: len(self._samples(one).present.times) > 0
        )
        self._found: dict[str, Mapping[Subject, Samples]] = {}

    def of(self, name: str) -> Mapping[Subject, Samples]:
        """The samples of a signal by subject, within the reviewed span; only subjects that have any.

        Empty for a signal that is not known or not recorded. A signal computed from others is
        there where its operands were sampled together.
        """
        if name not in self._found:
            known = name in self._review.question.signals
            found = self._finder.find(name).values() if known else ()
            every = ((subject, drawn(origin, self._samples)) for subject, origin in found)
            self._found[name] = {subject: s for subject, s in every if s is not None and len(s.present.times)}
        return self._found[name]

    def on(self, name: str, host: str) -> Mapping[Subject, Samples]:
        """The same for one host."""
        return {subject: s for subject, s in self.of(name).items() if subject.host.casefold() == host.casefold()}

    def _samples(self, series: Series) -> Samples:
        if series.key not in self._cache:
            question = self._review.question
            self._cache[series.key] = self._recorded.samples(series).between(question.start, question.end)
        return self._cache[series.key]


def subject_name(subject: Subject) -> str:
    """`SQLSRV01` or `SQLSRV01, 2 E:`."""
    return f"{subject.host}, {subject.instance}" if subject.instance else subject.host
