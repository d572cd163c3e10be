"""Chooses the source of a signal for each instance: the first that has samples of it."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from plimsoll.model.perfmon import TOTAL
from plimsoll.rules.instances.same_instance import Instances
from plimsoll.rules.origins import RecordedOrigin, TotalOrigin
from plimsoll.rules.schema.signal import Signal, Source
from plimsoll.rules.subjects import Subject

_Key: TypeAlias = tuple[str, str | None]
Chosen: TypeAlias = Mapping[_Key, tuple[Subject, RecordedOrigin | TotalOrigin]]


@dataclass(frozen=True, slots=True)
class Candidate:
    """What a source gives for a subject; `filled`: all its series have samples."""

    subject: Subject
    origin: RecordedOrigin | TotalOrigin
    filled: bool


class Choice:
    """The best candidate for each subject; sources are added in the order of the signal."""

    def __init__(self, signal: Signal) -> None:
        self._each = signal.instances == "each"
        self._found: dict[_Key, Candidate] = {}
        self._on_host: dict[str, Instances] = {}
        self._filled: Counter[str] = Counter()  # how many of each host's candidates have samples

    def add(self, source: Source, one: Candidate) -> None:
        """Take a candidate where no earlier source gives the instance, or gives it without samples."""
        host = one.subject.key[0]
        if source.fallback and self._each and not source.each:
            if self._filled[host]:
                return
            one = replace(one, subject=Subject(one.subject.host, TOTAL))
        key = one.subject.key
        known = key if key in self._found else self._twin(one.subject)
        if known is not None:
            if self._found[known].filled or not one.filled:
                return
            del self._found[known]
            self._on_host[host].remove(known[1] or "")
        self._found[key] = one
        self._filled[host] += one.filled
        self._on_host.setdefault(host, Instances()).add(key[1] or "")

    def made(self) -> Chosen:
        """What was chosen, by the key of the subject."""
        return {key: (one.subject, one.origin) for key, one in self._found.items()}

    def _twin(self, subject: Subject) -> _Key | None:
        """The subject found already that is the same under another name."""
        host, instance = subject.key
        there = self._on_host.get(host)
        name = there.holding(instance) if there and instance is not None else None
        return None if name is None else (host, name)
