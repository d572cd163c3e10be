"""The conclusion on the bottleneck and the reasons, as sentences with the figures that they rest on."""

from collections.abc import Iterator
from dataclasses import replace

from plimsoll.analysis.scalability import find_latency_knee
from plimsoll.insights.bottleneck import phrases
from plimsoll.insights.bottleneck.evidence import Evidence
from plimsoll.insights.bottleneck.find import Bottleneck
from plimsoll.insights.bottleneck.goes_with import find_correlated
from plimsoll.insights.bottleneck.resource_use import Figure, ResourceUse, make_figure
from plimsoll.insights.leading_signals import list_response_times
from plimsoll.model.lazy_dataclass import dataclass
from plimsoll.model.times import format_duration
from plimsoll.model.value_text import format_value
from plimsoll.review.findings import Finding
from plimsoll.review.sentences import describe_breach, format_subject_title
from plimsoll.rules.subjects import Subject

_NOTICED = 0.5  # of the limit of a latency
_MOST_EPISODES = 3
_MOST_FIGURES = 3
_WAITED = 0.5  # our choice: tasks, on average
# What SQL Server counts of its waits for each resource. They say what waits, not that the resource is short.
_SQL_WAITS = {
    "disk": ("sql.page_io_waits", "sql.log_write_waits"),
    "memory": ("sql.memory_grant_waits", "sql.page_io_waits"),
    "cpu": ("sql.parallel_waits",),
}
_SOFTWARE = "Probably the software limits this run, or something that is not recorded"
_NONE_KNOWN = "No resource is known to limit this run."


@dataclass(frozen=True)
class Sentence:
    """A sentence, and the figures that it rests on."""

    text: str
    figures: tuple[Figure, ...] = ()


def list_sentences(bottleneck: Bottleneck) -> tuple[Sentence, ...]:
    """Return the conclusion in the first sentence, then the reasons: what was ruled out, and what was not."""
    return tuple(_list_reasons(bottleneck))


def _list_reasons(bottleneck: Bottleneck) -> Iterator[Sentence]:
    """Yield the conclusion and the reasons, which depend on the kind of the bottleneck."""
    case = bottleneck.evidence
    when = phrases.describe_highest_load(case)
    if bottleneck.limiting is not None:
        yield from _explain_resource(case, bottleneck, bottleneck.limiting, when)
    elif bottleneck.kind == "queue":
        yield from _explain_software(case, when)
    elif bottleneck.kind == "load":
        yield from _explain_load(case, when, confident=bottleneck.confident)
    else:
        yield from _explain_undecided(case, when)
    load, measured = case.load, case.measured
    figures = [
        make_figure(measured, load, of.name, Subject(of.hosts[0]), measured.parts.means(of.samples), compared=False)
        for of in (load.offered, load.work)
        if of is not None
    ]
    yield Sentence(phrases.describe_response(load), tuple(figures))
    if bottleneck.limiting is None:
        signals = {episode.rule.signal for episode in case.episodes}
        inside: dict[str, Finding] = {}
        for finding in case.inside_crossed:
            inside.setdefault(finding.rule.signal, finding)
        episodes = [*case.episodes, *(finding for name, finding in inside.items() if name not in signals)]
        for episode in episodes[:_MOST_EPISODES]:
            part = "" if episode.share_of_time == 1 else "For a part of the run only: "
            yield Sentence(f"{part}{describe_breach(episode)}")
    if text := phrases.describe_room(case, limited=bottleneck.limiting is not None):
        yield Sentence(text, tuple(figure for use in case.room for figure in use.figures[:1]))
    if text := phrases.describe_unknown_use(case.open):
        yield Sentence(text)
    yield from _describe_latency_knee(case)
    if (related := find_correlated(measured, load)) is not None:
        yield Sentence(
            phrases.describe_correlated(related), (related.response, *(figure for figure, _, _ in related.related))
        )


def _explain_resource(case: Evidence, bottleneck: Bottleneck, limiting: ResourceUse, when: str) -> Iterator[Sentence]:
    """Yield the conclusion that a resource is the bottleneck, and the reasons; `when` is the measured time in words."""
    yield Sentence(
        phrases.describe_limiting_resource(limiting, case.load, confident=bottleneck.confident), limiting.figures[:1]
    )
    past = [figure for figure in limiting.figures if figure.limit is None or figure.is_beyond]
    shown = tuple(past[:_MOST_FIGURES])
    yield Sentence(f"{when}: {phrases.join_figures(shown, limiting.host)}.", shown)
    waits = [
        make_figure(case.measured, case.load, name, subject, values)
        for name in _SQL_WAITS.get(limiting.resource, ())
        for subject, values in case.measured.on(name, limiting.host).items()
    ]
    if counted := tuple(figure for figure in waits if figure.value >= _WAITED):
        yield Sentence(f"SQL Server says what waited: {phrases.join_figures(counted, limiting.host)}.", counted)
    for resource in case.resources:
        if resource is limiting or not resource.used_up or not resource.figures:
            continue
        if resource in case.used_up_at_any_load:
            why = "under low load too, from which the work could still grow"
        elif resource.resource == "disk" and limiting.resource == "memory" and resource.host == limiting.host:
            why = "which reads what memory could not hold"
        else:
            why = "which may limit as well"
        text = phrases.describe_figure(resource.figures[0], limiting.host, brief=True)
        yield Sentence(f"Also near a limit: {text}, {why}.", resource.figures[:1])


def _explain_software(case: Evidence, when: str) -> Iterator[Sentence]:
    """Yield the conclusion that the software, or something not recorded, is the bottleneck, and the reasons."""
    if (short := case.longest_short) is not None:
        past = (
            f"{phrases.lower(format_subject_title(short))} was past its limit for {format_duration(short.time_crossed)}"
        )
        yield Sentence(f"{_SOFTWARE}; but {past}, and may limit it, too.")
    else:
        all_room = not case.episodes and len(case.room) == len(case.resources) - len(case.open)
        had_room = "every resource recorded had room" if all_room else "no resource was near its capacity for long"
        yield Sentence(f"{_SOFTWARE}: {had_room}.")
    shown = tuple(wait.figure for wait in case.waits[:_MOST_FIGURES])
    if shown:
        yield Sentence(f"{when}: {phrases.join_figures(shown, None)}.", shown)
        yield Sentence("What waits there may wait for what is not recorded: another host, a service, a quota.")
    else:
        yield Sentence(
            "Which queue is not recorded, and what is not recorded (clients and the way to them, another host, a "
            "service, a quota) may limit as well."
        )


def _explain_load(case: Evidence, when: str, *, confident: bool) -> Iterator[Sentence]:
    """Yield the conclusion that no limit was reached, as the load was (or may have been) too small, and the reasons."""
    if confident:
        yield Sentence("The load was too small to reach a limit.")
    elif case.crossed:
        yield Sentence(_NONE_KNOWN)
    elif case.near_for_a_time:
        yield Sentence("Nothing that was recorded is known to limit this run as a whole.")
        yield from (Sentence(phrases.describe_near_period(period)) for period in case.near_for_a_time)
    else:
        yield Sentence("Nothing that was recorded limits this run: no resource came near its capacity.")
    if (why := case.why_not_too_small) and not case.crossed:
        yield Sentence(f"Whether the load was too small to reach a limit is not known: {why}.")
    if case.waits:
        shown = tuple(wait.figure for wait in case.waits[:_MOST_FIGURES])
        yield Sentence(f"{when}: {phrases.join_figures(shown, None)}.", shown)
    elif not case.inside_crossed:
        within = [wait.figure for wait in case.inside if not wait.figure.is_beyond][:1]
        for longest in within:
            yield Sentence(f"Little waited inside the software: {phrases.describe_figure(longest, None)}.", (longest,))


def _explain_undecided(case: Evidence, when: str) -> Iterator[Sentence]:
    """Yield the conclusion that the bottleneck is unknown, and the resources that came nearest to a limit."""
    if case.episodes and case.mostly_recorded and not (case.used_up or case.high or case.waits):
        yield Sentence(_NONE_KNOWN)
    else:
        yield Sentence("The bottleneck of this run cannot be told from what was recorded.")
    if case.used_up or case.waits:
        past = (*(use.figures[0] for use in case.used_up), *(wait.figure for wait in case.waits[:2]))
        yield Sentence(f"{when}: {phrases.join_figures(past, None)}.", past)
    high = [use.figures[0] for use in case.high]
    if within := tuple(figure for figure in high if not figure.is_beyond):
        yield Sentence(f"Nearest to a limit: {phrases.join_figures(within, None)}.", within)
    for use in (use for use in case.high if use.figures[0].is_beyond):
        queued = any(figure.signal.startswith("disk.queue") and figure.value > 1 for figure in use.figures)
        waits = "whether requests wait for it is not known" if queued else "but nothing waits for it"
        busy = tuple(replace(figure, limit=None, document=None) for figure in use.figures[: 3 if queued else 1])
        yield Sentence(f"Busy, {waits}: {phrases.join_figures(busy, None)}.", busy)


def _describe_latency_knee(case: Evidence) -> Iterator[Sentence]:
    """Yield a sentence on the first response time that stayed flat up to some throughput, and grew beyond."""
    work, measured = case.load.work, case.measured
    if work is None or work.kind != "operations":
        return
    rate, signals = measured.parts.means(work.samples), measured.review.question.signals
    for name in list_response_times(signals):
        for subject, values in measured.of(name).items():
            knee, bound = find_latency_knee(rate, values), measured.bound(name, subject)
            if knee is None or (bound is not None and knee.at_highest < _NOTICED * bound.limit):
                continue
            unit, per = signals[name].unit, work.signal.unit
            yield Sentence(
                f"{signals[name].title} of {subject} stayed near {format_value(knee.flat, unit)} up to "
                f"{format_value(knee.rate, per)}, {round(100 * knee.rate / knee.highest)} % of the highest rate "
                f"({format_value(knee.highest, per)}), where it was {format_value(knee.at_highest, unit)}.",
                (make_figure(measured, case.load, name, subject, values, compared=False),),
            )
            return
