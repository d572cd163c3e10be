"""The signals a report shows beside the judged ones: what a rule says to look at, and statistics."""

from collections.abc import Mapping

from model.samples import Recorded, Samples
from model.series import Series
from review.findings import Finding
from review.review import Review
from review.signal_samples import signal_samples
from rules.origins import FieldsOrigin, Origins, SeriesOrigin, series_of
from rules.signal_finder import Finder
from rules.subjects import Subject


class RecordedSignals:
    """The signals of a review as they were recorded, in their own units."""

    def __init__(self, review: Review) -> None:
        self._review = review
        self._recorded = Recorded(review.logs)
        self._cache: dict[object, Samples] = {}
        self._finder = Finder(
            review.question.signals,
            self._recorded.series,
            lambda one: len(self.counter(one).present.times) > 0,
            review.facts.known,
        )
        self._found: dict[str, Mapping[Subject, Samples]] = {}

    def of(self, name: str) -> Mapping[Subject, Samples]:
        """The samples of a signal by subject, within the reviewed span; only subjects that have any.

        Empty for a signal that is not known or not recorded. A signal computed from others is
        there where its operands were sampled together.
        """
        if name not in self._found:
            every = (
                (subject, signal_samples(origin, self.counter)) for subject, origin in self._origins(name).values()
            )
            self._found[name] = {subject: s for subject, s in every if s is not None and len(s.present.times)}
        return self._found[name]

    def on(self, name: str, host: str) -> Mapping[Subject, Samples]:
        """The same for one host."""
        return {subject: s for subject, s in self.of(name).items() if subject.host.casefold() == host.casefold()}

    def samples(self, finding: Finding) -> Samples | None:
        """What a finding was judged by, as it was recorded; None where it is computed from what was not sampled
        together, so that there is a value at an evaluation only.
        """
        return self.of(finding.rule.signal).get(finding.subject) if finding.subject else None

    def count(self, finding: Finding) -> int | None:
        """How many samples of the log a finding was judged by; None where it is computed from several counters."""
        found = self._origins(finding.rule.signal).get(finding.subject.key) if finding.subject else None
        if found is None:
            return None
        subject, origin = found
        if isinstance(origin, SeriesOrigin):
            return len(self.counter(origin.series).present.times)
        together = self.of(finding.rule.signal).get(subject)
        return len(together.present.times) if together is not None else None

    def grows(self, finding: Finding) -> bool:
        """Whether what was recorded is a growing count, so that the signal lies between two samples."""
        found = self._origins(finding.rule.signal).get(finding.subject.key) if finding.subject else None
        return found is not None and isinstance(found[1], SeriesOrigin | FieldsOrigin) and found[1].rate

    def others(self) -> list[Series]:
        """The recorded counters that no known signal is taken from."""
        used = {
            series.key
            for name in self._review.question.signals
            for _, origin in self._origins(name).values()
            for series in series_of(origin)
        }
        return [series for series in self._recorded.series if series.key not in used]

    def counter(self, series: Series) -> Samples:
        """The samples of one counter, within the reviewed span."""
        if series.key not in self._cache:
            question = self._review.question
            self._cache[series.key] = self._recorded.samples(series).between(question.start, question.end)
        return self._cache[series.key]

    def _origins(self, name: str) -> Origins:
        return self._finder.find(name) if name in self._review.question.signals else {}
