"""Why something is the bottleneck, in sentences: the conclusion and its reasons, each with the figures it rests on."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from plimsoll.insights.bottleneck import phrases
from plimsoll.insights.bottleneck.evidence import Evidence
from plimsoll.insights.bottleneck.find import Bottleneck
from plimsoll.insights.bottleneck.observations import latencies, switching
from plimsoll.insights.bottleneck.resource_use import Figure, ResourceUse, figure_of
from plimsoll.model.times import duration_text
from plimsoll.review.findings import Finding
from plimsoll.review.sentences import breach_sentence, subject_title
from plimsoll.rules.subjects import Subject

_MOST_EPISODES = 3
_MOST_FIGURES = 3
_SOFTWARE = "Probably the software limits this run, or something that is not recorded"
_NONE_KNOWN = "No resource is known to limit this run."


@dataclass(frozen=True)
class Sentence:
    """A sentence, and the figures it rests on."""

    text: str
    figures: tuple[Figure, ...] = ()


def sentences(bottleneck: Bottleneck) -> tuple[Sentence, ...]:
    """The conclusion, then what it rests on, what was ruled out and what was not."""
    return tuple(_reasons(bottleneck))


def _reasons(found: Bottleneck) -> Iterator[Sentence]:
    case = found.evidence
    when = phrases.highest_load(case)
    if found.limiting is not None:
        yield from _of_a_resource(case, found, found.limiting, when)
    elif found.kind == "queue":
        yield from _of_the_software(case, when)
    elif found.kind == "load":
        yield from _of_the_load(case, when, confident=found.confident)
    else:
        yield from _undecided(case, when)
    yield Sentence(phrases.followed(case.load), tuple(_of_the_work(case)))
    if found.limiting is None:
        for one in _episodes(case)[:_MOST_EPISODES]:
            part = "" if one.share_of_time == 1 else "For a part of the run only: "
            yield Sentence(f"{part}{breach_sentence(one)}")
    if text := phrases.room(case, limited=found.limiting is not None):
        yield Sentence(text, tuple(figure for one in case.room for figure in one.figures[:1]))
    if text := phrases.not_ruled_out(case.open):
        yield Sentence(text)
    yield from (Sentence(*one) for one in (*switching(case), *latencies(case)))
    if (found_with := case.goes_with) is not None:
        shown = (found_with.response, *(figure for figure, _, _ in found_with.others))
        yield Sentence(phrases.goes_with(found_with), shown)


def _episodes(case: Evidence) -> list[Finding]:
    """What was short for a time, then the worst that was past its limit inside the software."""
    signals = {one.rule.signal for one in case.episodes}
    inside: dict[str, Finding] = {}
    for one in case.inside_crossed:
        if one.rule.signal not in signals:
            inside.setdefault(one.rule.signal, one)
    return [*case.episodes, *inside.values()]


def _of_the_work(case: Evidence) -> Iterator[Figure]:
    """The load and the work at the highest and at low load."""
    load, measured = case.load, case.measured
    for one in (load.offered, load.work):
        if one is not None:
            values = measured.parts.means(one.samples)
            yield figure_of(measured, load, one.name, Subject(one.hosts[0]), values, compared=False)


def _of_a_resource(case: Evidence, found: Bottleneck, limiting: ResourceUse, when: str) -> Iterator[Sentence]:
    yield Sentence(phrases.limited_by(limiting, case.load, confident=found.confident), limiting.figures[:1])
    shown = _past(limiting.figures)[:_MOST_FIGURES]
    yield Sentence(f"{when}: {phrases.figures_text(shown, limiting.host)}.", shown)
    for one in case.resources:
        if one is limiting or not one.used_up or not one.figures:
            continue
        if one in case.used_up_at_any_load:
            why = "under low load too, from which the work could still grow"
        elif one.resource == "disk" and limiting.resource == "memory" and one.host == limiting.host:
            why = "which reads what memory could not hold"
        else:
            why = "which may limit as well"
        text = phrases.figure_text(one.figures[0], limiting.host, brief=True)
        yield Sentence(f"Also near a limit: {text}, {why}.", one.figures[:1])


def _past(figures: Sequence[Figure]) -> tuple[Figure, ...]:
    """The figures that show that a resource is short: not those within their limits."""
    return tuple(one for one in figures if one.limit is None or one.beyond(one.value))


def _of_the_software(case: Evidence, when: str) -> Iterator[Sentence]:
    recorded = [one for one in case.resources if one not in case.open]
    all_room = not case.episodes and len(case.room) == len(recorded)
    had_room = "every resource recorded had room" if all_room else "no resource was near its capacity for long"
    if (short := case.longest_short) is not None:
        past = f"{phrases.lower(subject_title(short))} was past its limit for {duration_text(short.time_crossed)}"
        yield Sentence(f"{_SOFTWARE}; but {past}, and may limit it, too.")
    else:
        yield Sentence(f"{_SOFTWARE}: {had_room}.")
    shown = tuple(one.figure for one in case.waits[:_MOST_FIGURES])
    if shown:
        yield Sentence(f"{when}: {phrases.figures_text(shown, None)}.", shown)
        yield Sentence("What waits there may wait for what is not recorded: another host, a service, a quota.")
    else:
        yield Sentence(
            "Which queue is not recorded, and what is not recorded (clients and the way to them, another host, a "
            "service, a quota) may limit as well."
        )


def _of_the_load(case: Evidence, when: str, *, confident: bool) -> Iterator[Sentence]:
    if confident:
        yield Sentence("The load was too small to reach a limit.")
    elif case.crossed:
        yield Sentence(_NONE_KNOWN)
    elif case.near_for_a_time:
        yield Sentence("Nothing that was recorded is known to limit this run as a whole.")
        for one in case.near_for_a_time:
            yield Sentence(phrases.near_for_a_time(one))
    else:
        yield Sentence("Nothing that was recorded limits this run: no resource came near its capacity.")
    if (why := case.why_not_too_small) and not case.crossed:
        yield Sentence(f"Whether the load was too small to reach a limit is not known: {why}.")
    if case.waits:
        shown = tuple(one.figure for one in case.waits[:_MOST_FIGURES])
        yield Sentence(f"{when}: {phrases.figures_text(shown, None)}.", shown)
    elif not case.inside_crossed and (
        within := [one.figure for one in case.inside if not one.figure.beyond(one.figure.value)]
    ):
        longest = within[0]
        yield Sentence(f"Little waited inside the software: {phrases.figure_text(longest, None)}.", (longest,))


def _undecided(case: Evidence, when: str) -> Iterator[Sentence]:
    """That it cannot be told, and what came nearest to a limit."""
    if case.episodes and case.mostly_recorded and not (case.used_up or case.high or case.waits):
        yield Sentence(_NONE_KNOWN)
    else:
        yield Sentence("What limits this run cannot be told from what was recorded.")
    if case.used_up or case.waits:
        past = (*(one.figures[0] for one in case.used_up), *(one.figure for one in case.waits[:2]))
        yield Sentence(f"{when}: {phrases.figures_text(past, None)}.", past)
    high = [one.figures[0] for one in case.high]
    if within := tuple(one for one in high if not one.beyond(one.value)):
        yield Sentence(f"Nearest to a limit: {phrases.figures_text(within, None)}.", within)
    if busy := tuple(replace(one, limit=None, document=None) for one in high if one.beyond(one.value)):
        yield Sentence(f"Busy, but nothing waits for it: {phrases.figures_text(busy, None)}.", busy)
