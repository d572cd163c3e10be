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
    """Return the conclusion, then what it rests on, what was ruled out and what was not."""
    return tuple(_reasons(bottleneck))


def _reasons(bottleneck: Bottleneck) -> Iterator[Sentence]:
    case = bottleneck.evidence
    when = phrases.highest_load(case)
    if bottleneck.limiting is not None:
        yield from _of_a_resource(case, bottleneck, bottleneck.limiting, when)
    elif bottleneck.kind == "queue":
        yield from _of_the_software(case, when)
    elif bottleneck.kind == "load":
        yield from _of_the_load(case, when, confident=bottleneck.confident)
    else:
        yield from _undecided(case, when)
    yield Sentence(phrases.followed(case.load), tuple(_of_the_work(case)))
    if bottleneck.limiting is None:
        for episode in _episodes(case)[:_MOST_EPISODES]:
            part = "" if episode.share_of_time == 1 else "For a part of the run only: "
            yield Sentence(f"{part}{breach_sentence(episode)}")
    if text := phrases.room(case, limited=bottleneck.limiting is not None):
        yield Sentence(text, tuple(figure for resource_use in case.room for figure in resource_use.figures[:1]))
    if text := phrases.not_ruled_out(case.open):
        yield Sentence(text)
    yield from (Sentence(*latency) for latency in (*switching(case), *latencies(case)))
    if (found_with := case.goes_with) is not None:
        shown = (found_with.response, *(figure for figure, _, _ in found_with.related))
        yield Sentence(phrases.goes_with(found_with), shown)


def _episodes(case: Evidence) -> list[Finding]:
    """Return what was short for a time, then the worst that was past its limit inside the software."""
    signals = {episode.rule.signal for episode in case.episodes}
    inside: dict[str, Finding] = {}
    for finding in case.inside_crossed:
        if finding.rule.signal not in signals:
            inside.setdefault(finding.rule.signal, finding)
    return [*case.episodes, *inside.values()]


def _of_the_work(case: Evidence) -> Iterator[Figure]:
    """Yield the load and the work at the highest and at low load."""
    load, measured = case.load, case.measured
    for item in (load.offered, load.work):
        if item is not None:
            values = measured.parts.means(item.samples)
            yield figure_of(measured, load, item.name, Subject(item.hosts[0]), values, compared=False)


def _of_a_resource(case: Evidence, bottleneck: Bottleneck, limiting: ResourceUse, when: str) -> Iterator[Sentence]:
    yield Sentence(phrases.limited_by(limiting, case.load, confident=bottleneck.confident), limiting.figures[:1])
    shown = _past(limiting.figures)[:_MOST_FIGURES]
    yield Sentence(f"{when}: {phrases.figures_text(shown, limiting.host)}.", shown)
    for resource in case.resources:
        if resource is limiting or not resource.used_up or not resource.figures:
            continue
        if resource in case.used_up_at_any_load:
            why = "under low load too, from which the work could still grow"
        elif resource.resource == "disk" and limiting.resource == "memory" and resource.host == limiting.host:
            why = "which reads what memory could not hold"
        else:
            why = "which may limit as well"
        text = phrases.figure_text(resource.figures[0], limiting.host, brief=True)
        yield Sentence(f"Also near a limit: {text}, {why}.", resource.figures[:1])


def _past(figures: Sequence[Figure]) -> tuple[Figure, ...]:
    """Return the figures that show that a resource is short: not those within their limits."""
    return tuple(figure for figure in figures if figure.limit is None or figure.beyond(figure.value))


def _of_the_software(case: Evidence, when: str) -> Iterator[Sentence]:
    recorded = [resource for resource in case.resources if resource not in case.open]
    all_room = not case.episodes and len(case.room) == len(recorded)
    had_room = "every resource recorded had room" if all_room else "no resource was near its capacity for long"
    if (short := case.longest_short) is not None:
        past = f"{phrases.lower(subject_title(short))} was past its limit for {duration_text(short.time_crossed)}"
        yield Sentence(f"{_SOFTWARE}; but {past}, and may limit it, too.")
    else:
        yield Sentence(f"{_SOFTWARE}: {had_room}.")
    shown = tuple(wait.figure for wait in case.waits[:_MOST_FIGURES])
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
        for near_for_a_time in case.near_for_a_time:
            yield Sentence(phrases.near_for_a_time(near_for_a_time))
    else:
        yield Sentence("Nothing that was recorded limits this run: no resource came near its capacity.")
    if (why := case.why_not_too_small) and not case.crossed:
        yield Sentence(f"Whether the load was too small to reach a limit is not known: {why}.")
    if case.waits:
        shown = tuple(wait.figure for wait in case.waits[:_MOST_FIGURES])
        yield Sentence(f"{when}: {phrases.figures_text(shown, None)}.", shown)
    elif not case.inside_crossed and (
        within := [waiting.figure for waiting in case.inside if not waiting.figure.beyond(waiting.figure.value)]
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
        past = (*(resource_use.figures[0] for resource_use in case.used_up), *(wait.figure for wait in case.waits[:2]))
        yield Sentence(f"{when}: {phrases.figures_text(past, None)}.", past)
    high = [resource_use.figures[0] for resource_use in case.high]
    if within := tuple(figure for figure in high if not figure.beyond(figure.value)):
        yield Sentence(f"Nearest to a limit: {phrases.figures_text(within, None)}.", within)
    if busy := tuple(replace(figure, limit=None, document=None) for figure in high if figure.beyond(figure.value)):
        yield Sentence(f"Busy, but nothing waits for it: {phrases.figures_text(busy, None)}.", busy)
