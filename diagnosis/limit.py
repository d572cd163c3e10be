"""What limits a run, reasoned from its figures: a resource, a queue inside the software, or a load too small to tell.

The method is that of the file server study (Bluecurve, 1999): what is near its capacity while the work no longer
follows the load limits it; what has room is ruled out; what was not recorded is not. It never claims more than the
counters show: where they do not tell, the answer is that it cannot be told, and what would have to be recorded.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from diagnosis.limits import words
from diagnosis.limits.disk import disks
from diagnosis.limits.inside import Waiting, waiting
from diagnosis.limits.load_response import LoadResponse, after_the_peak, load_response
from diagnosis.limits.measured import EPISODES, Figure, Measured
from diagnosis.limits.memory import memory
from diagnosis.limits.network import network
from diagnosis.limits.processor import processors
from diagnosis.limits.standing import Standing, State
from review.findings import CROSSED, Finding
from review.load import loads
from review.review import Review
from review.sentences import breach_sentence

_MOST_EPISODES = 3
Kind = Literal["cpu", "disk", "memory", "network", "queue", "load", "unknown"]


@dataclass(frozen=True)
class Sentence:
    """A sentence, and the figures it rests on."""

    text: str
    figures: tuple[Figure, ...] = ()


@dataclass(frozen=True)
class Limit:
    """What limits a run.

    Attributes:
        kind: The resource; `queue` inside the software; `load`: it was too small to reach a limit; or `unknown`.
        confident: Whether the figures leave no other explanation that was looked for.
        host: The host that limits, None where no one does.
        instance: The disk, adapter, processor or process.
        sentences: The reasons, the conclusion first.
        standings: Every resource of every host.
        limiting: The resource that limits; None for queue, load and unknown.
        load: The load, and how the work responded.
        spans: The times of the highest load (UTC ns), which the figures are of.
        phase: The phase that most of them is in.
    """

    kind: Kind
    confident: bool
    host: str | None
    instance: str | None
    sentences: tuple[Sentence, ...]
    standings: tuple[Standing, ...]
    limiting: Standing | None
    waiting: tuple[Waiting, ...]
    load: LoadResponse
    spans: tuple[tuple[int, int], ...]
    phase: str | None

    @property
    def main(self) -> Figure | None:
        """The figure that tells most: of what limits, or of what came nearest to a limit."""
        if self.limiting is not None:
            return self.limiting.figures[0]
        if self.kind == "queue" and self.waiting:
            return self.waiting[0].figure
        nearest = max((one for one in self.standings if one.figures), key=lambda one: one.state, default=None)
        return nearest.figures[0] if nearest else None

    @property
    def summary(self) -> str:
        """The conclusion."""
        return self.sentences[0].text


@dataclass(frozen=True)
class _Case:
    """Everything the conclusion is drawn from."""

    measured: Measured
    load: LoadResponse
    standings: tuple[Standing, ...]
    inside: tuple[Waiting, ...]

    @property
    def used_up(self) -> list[Standing]:
        """The resources near their capacity, the nearest first; without disks that read what memory could not hold."""
        short = {one.host for one in self.standings if one.resource == "memory" and one.used_up}
        found = [one for one in self.standings if one.used_up and not (one.resource == "disk" and one.host in short)]
        return sorted(found, key=lambda one: (-one.state, one.resource != "memory"))

    @cached_property
    def episodes(self) -> list[Finding]:
        """Limits of resources that were crossed for a part of the run, the gravest of each signal and host."""
        found: dict[tuple[str, str], Finding] = {}
        for one in self.measured.review.of(*CROSSED):
            if one.severe and one.subject and one.rule.signal in EPISODES:
                found.setdefault((one.rule.signal, one.subject.host), one)
        return list(found.values())

    @property
    def open(self) -> list[Standing]:
        """What is not recorded or not clear."""
        return [one for one in self.standings if one.state <= State.UNCLEAR]

    @property
    def room(self) -> list[Standing]:
        """What was recorded and not near its capacity."""
        return [one for one in self.standings if one.state in (State.ROOM, State.HIGH)]

    @property
    def waits(self) -> list[Waiting]:
        """What waited inside the software."""
        return [one for one in self.inside if one.grew or one.long]


def what_limits(review: Review) -> Limit | None:
    """What limits a run; None if it has no samples."""
    if review.start is None or review.end is None or review.end <= review.start:
        return None
    measured = Measured(review)
    load = load_response(measured, loads(review.signals, review.question.signals))
    case = _case(measured, load)
    later = after_the_peak(measured, load)
    if later is not None and not case.used_up:
        after = _case(measured, later)
        case = after if after.used_up else case
    load = case.load
    kind, confident, limiting = _conclusion(case)
    main = limiting.figures[0] if limiting else None
    return Limit(
        kind,
        confident,
        limiting.host if limiting else case.waits[0].figure.subject.host if kind == "queue" and case.waits else None,
        main.subject.instance if main else None,
        tuple(_sentences(case, kind, confident, limiting)),
        case.standings,
        limiting,
        tuple(case.waits),
        load,
        _spans(measured, load),
        words.phase_of(measured, load),
    )


def _case(measured: Measured, load: LoadResponse) -> _Case:
    standings = tuple(
        judge(measured, host, load) for host in measured.review.hosts for judge in (processors, memory, disks, network)
    )
    return _Case(measured, load, standings, waiting(measured, load))


def _conclusion(case: _Case) -> tuple[Kind, bool, Standing | None]:
    if case.used_up:
        return _of_a_resource(case)
    kind, confident = _without_a_resource(case)
    return kind, confident, None


def _of_a_resource(case: _Case) -> tuple[Kind, bool, Standing | None]:
    """One resource is near its capacity, or the first of several."""
    first, *others = case.used_up
    rivals = [one for one in others if one.state == first.state]
    if rivals:
        return ("unknown", False, None) if not case.load.flat and len(rivals) > 1 else (first.resource, False, first)
    alone = not case.open and all(one.state == State.ROOM for one in case.room)
    sure = first.state == State.FULL or case.load.flat or alone
    unclear = first.resource == "disk" and any(
        one.resource == "memory" and one.host == first.host and one.state <= State.UNCLEAR for one in case.standings
    )
    if (first.what and first.what != "one processor") or first.needed or unclear:
        sure = case.load.flat and not unclear
    return first.resource, sure and case.load.follows is not True and case.load.fell is None, first


def _without_a_resource(case: _Case) -> tuple[Kind, bool]:
    """Nothing is near its capacity."""
    recorded = not case.open
    mostly = all(one.resource == "network" for one in case.open)
    follows, waits = case.load.follows, case.waits
    high = [one for one in case.room if one.state == State.HIGH]
    if high and follows is not True:
        return "unknown", False
    if follows is True:
        return "load", not any(one.grew and one.long for one in waits)
    if follows is False:
        if waits and mostly:
            return "queue", recorded
        return ("queue", False) if recorded else ("unknown", False)
    if waits and mostly:
        return "queue", recorded and any(one.grew and one.long for one in waits)
    if mostly and case.load.response is None and not case.episodes:
        return "load", recorded and bool(case.inside) and case.load.work is not None
    return "unknown", False


def _sentences(case: _Case, kind: Kind, confident: bool, limiting: Standing | None) -> Iterator[Sentence]:
    """The conclusion, then what it rests on."""
    when = words.highest_load(case.measured, case.load)
    if limiting is not None:
        yield Sentence(words.limited_by(limiting, confident=confident), limiting.figures[:1])
        shown = limiting.figures[:3]
        yield Sentence(f"{when}, {words.figures_text(shown, limiting.host)}.", shown)
        yield from _beside(case, limiting)
    elif kind == "queue":
        yield from _queue(case, when, confident=confident)
    elif kind == "load":
        yield Sentence(
            "The load was too small to reach a limit."
            if confident
            else "Nothing that was recorded limits this run: nothing came near its capacity."
        )
        if case.inside:
            longest = case.inside[0].figure
            yield Sentence(f"Inside the software little waited: {words.figure_text(longest, None)}.", (longest,))
    else:
        part = case.episodes and not case.open and case.load.response is None
        yield Sentence(
            "No one resource limits the whole run."
            if part
            else "What limits this run cannot be told from what was recorded."
        )
        yield from _undecided(case, when)
    yield Sentence(words.followed(case.load))
    if kind in ("load", "unknown", "queue"):
        for one in case.episodes[:_MOST_EPISODES]:
            yield Sentence(f"For a part of the run only: {breach_sentence(one)}")
    if text := words.room(case.room):
        yield Sentence(text, tuple(figure for one in case.room for figure in one.figures[:1]))
    if text := words.not_ruled_out(case.open):
        yield Sentence(text)


def _beside(case: _Case, limiting: Standing) -> Iterator[Sentence]:
    """What else was used up, and why it is not taken for the limit."""
    for one in case.standings:
        if one is limiting or not one.used_up or not one.figures:
            continue
        paged = one.resource == "disk" and limiting.resource == "memory" and one.host == limiting.host
        why = "which reads what memory could not hold" if paged else "which may limit as well"
        text = words.figure_text(one.figures[0], limiting.host, brief=True)
        yield Sentence(f"Also near a limit: {text}, {why}.", one.figures[:1])


def _queue(case: _Case, when: str, *, confident: bool) -> Iterator[Sentence]:
    a = "A" if confident else "Probably a"
    yield Sentence(f"{a} queue inside the software limits this run: every resource recorded has room.")
    shown = tuple(one.figure for one in case.waits[:3])
    if shown:
        yield Sentence(f"{when}, {words.figures_text(shown, None)}.", shown)
    else:
        yield Sentence(
            "Which queue is not recorded, and what lies outside the hosts (clients, the way to them) may limit as well."
        )


def _undecided(case: _Case, when: str) -> Iterator[Sentence]:
    """What came nearest to a limit."""
    for one in (*case.used_up, *(one for one in case.room if one.state == State.HIGH)):
        if one.figures:
            yield Sentence(f"{when}, {words.figure_text(one.figures[0], None)}.", one.figures[:1])
    for one in case.waits[:2]:
        yield Sentence(f"{when}, {words.figure_text(one.figure, None)}.", (one.figure,))


def _spans(measured: Measured, load: LoadResponse) -> tuple[tuple[int, int], ...]:
    """The times of the highest load, joined where they follow each other."""
    spans: list[tuple[int, int]] = []
    for slot in np.flatnonzero(load.top).tolist():
        start, end = measured.slots.edges(slot)
        if spans and spans[-1][1] >= start:
            spans[-1] = spans[-1][0], end
        else:
            spans.append((start, end))
    return tuple(spans)
