"""A comparison as terminal text: the story first, then what became worse, better, changed, and what did not."""

from collections.abc import Iterator, Sequence

from plimsoll.comparison.compare import Comparison, Side
from plimsoll.comparison.doubts import counter_text, doubts, not_compared, proposed
from plimsoll.comparison.judging import Compared, Outcome
from plimsoll.comparison.reshaped_words import told
from plimsoll.comparison.run_table import columns, run_table
from plimsoll.comparison.sentences import by_signal, place
from plimsoll.comparison.story import ANSWERS, Answer, account, answer, story
from plimsoll.model.parameters import Parameter
from plimsoll.model.remark import counted, listed, short
from plimsoll.model.styled import Line, Part, in_columns
from plimsoll.model.times import Zone
from plimsoll.report.comparison.words import TITLES, cells
from plimsoll.report.wording import scope
from plimsoll.review.findings import Finding
from plimsoll.review.sentences import breach_sentence
from plimsoll.rules.severity import COLOURS, MARKS

_STYLES = {Answer.WORSE: "bold red", Answer.NOT_WORSE: "bold", Answer.UNKNOWN: "bold yellow"}
_ALL_ROWS = {Outcome.REGRESSION: 20, Outcome.IMPROVEMENT: 10, Outcome.CHANGE: 8, Outcome.LOAD: 5, Outcome.SPREAD: 5}
_FIRST_ROWS = {Outcome.REGRESSION: 8, Outcome.IMPROVEMENT: 5, Outcome.CHANGE: 3, Outcome.SPREAD: 3}
_MOST_IN_FULL = 2
_REASON = 200  # characters
_MOST_NAMES = 12
_MOST_CROSSED = 8
_FIRST_CROSSED = 3
_PLACE_WIDTH = 36
_NARROW_PLACE = 16
_NARROW = 110
_NAMES_WIDTH = 28  # of the run table, where a terminal is narrow
_SEE_REPORT = f"{Parameter.OUT} writes a report with all of them"
_REST = f"{Parameter.DETAILS} prints the rest; {Parameter.OUT} writes a report with all of it."
_HEAD = ("", "", "baseline", "other", "change", "difference, 95 % interval", "independent samples")
_LEFT_OUT = (6, 5, 4)  # columns of _HEAD, where a terminal is narrow


def lines(
    comparisons: Sequence[Comparison], zone: Zone | None = None, width: int | None = None, *, all_of_it: bool = True
) -> Iterator[Line]:
    """The comparisons with one baseline, line by line, of many their answers; without `all_of_it` they fit a screen.

    Times are in `zone`, by default those of the logs. Tables fit the `width`; without one, the lines are for no
    terminal.
    """
    if len(comparisons) > (_MOST_IN_FULL if all_of_it else 1):
        yield from _briefly(comparisons)
        if all_of_it:
            yield (_dim(f"  Two runs at a time are shown in full; {_SEE_REPORT}."),)
    else:
        for at, comparison in enumerate(comparisons):
            if at:
                yield ()
            yield from _first(comparison, zone, width, all_of_it)
            if all_of_it:
                yield from _rest(comparison, width)
    if all_of_it:
        yield from _runs(comparisons, width)
    else:
        yield ()
        yield (_dim(_REST),)


def _briefly(comparisons: Sequence[Comparison]) -> Iterator[Line]:
    """An answer for all of them, and the answer and the reason of each."""
    said = [answer(one) for one in comparisons]
    counts = [f"{said.count(one)} {ANSWERS[one].removesuffix('.').lower()}" for one in _STYLES if one in said]
    gravest = next(one for one in (Answer.WORSE, Answer.UNKNOWN, Answer.NOT_WORSE) if one in said)
    names = listed([one.name for one in comparisons[0].baselines], _MOST_NAMES)
    head = f" Of {counted(len(said), 'run')}, compared with {names}: {', '.join(counts)}."
    yield (ANSWERS[gravest], _STYLES[gravest]), head
    yield ()
    for comparison, one in zip(comparisons, said, strict=True):
        yield (
            (f"  {ANSWERS[one]:10} ", _STYLES[one]),
            f" {comparison.second.name}: {short(_reason(comparison), _REASON)}",
        )


def _reason(comparison: Comparison) -> str:
    load, worse, _ = story(comparison)
    if answer(comparison) == Answer.UNKNOWN:
        return f"{'; '.join(doubts(comparison))}."
    return worse if comparison.load.throughput_lost is None else f"{load} {worse}"


def _first(comparison: Comparison, zone: Zone | None, width: int | None, all_of_it: bool) -> Iterator[Line]:
    """The answer, and what became worse or better and crossed limits."""
    verdict = answer(comparison)
    first, *others = account(comparison)
    yield (ANSWERS[verdict], _STYLES[verdict]), f" {first}"
    yield from ((sentence,) for sentence in others)
    yield ()
    yield (_dim(f"baseline  {_scope(comparison.first, zone)}"),)
    if comparison.earlier:
        names = listed([one.name for one in reversed(comparison.earlier)], _MOST_NAMES)
        yield (_dim(f"          and {counted(len(comparison.earlier), 'earlier run')}: {names}"),)
    yield (_dim(f"other     {_scope(comparison.second, zone)}"),)
    yield (_dim(f"judged in: {comparison.phase.name}{_remark(comparison)}"),)
    if comparison.set_differently:
        yield (f"Set differently: {listed([one.text for one in comparison.set_differently], _MOST_NAMES)}",)
    if all_of_it and comparison.load.signals:
        yield from _table("Load", comparison.load.signals, 3, width)
    for outcome, most in (_ALL_ROWS if all_of_it else _FIRST_ROWS).items():
        yield from _table(TITLES[outcome], comparison.of(outcome), most, width)
    if not all_of_it:
        yield from _crossed(comparison, _FIRST_CROSSED)


def _rest(comparison: Comparison, width: int | None) -> Iterator[Line]:
    for phase, worse in comparison.also_worse():
        yield from _names(f"Worse in the {phase.name} phase alone", worse)
    for outcome in (Outcome.UNCLEAR, Outcome.WITHIN, Outcome.SAME):
        yield from _names(TITLES[outcome], comparison.of(outcome))
    yield from _crossed(comparison, _MOST_CROSSED)
    yield from _others(comparison)
    yield from _recorded(comparison)


def _scope(side: Side, zone: Zone | None) -> str:
    name = "" if side.review.run.name == side.name else f"{side.name} · "
    return f"{name}{scope(side.review, zone or side.review.zone)}"


def _remark(comparison: Comparison) -> str:
    return f"; {comparison.hosts.remark}" if comparison.hosts.remark else ""


def _title(text: str) -> Iterator[Line]:
    yield ()
    yield ((text, "bold"),)


def _dim(text: str) -> Part:
    return text, "dim"


def _table(heading: str, found: Sequence[Compared], most: int, width: int | None) -> Iterator[Line]:
    """A row for each signal, of the place where it differs most."""
    if not found:
        return
    yield from _title(heading)
    groups = by_signal(found)
    narrow = bool(width and width < _NARROW)
    rows = [_HEAD, *(_row(group, narrow=narrow) for group in groups[:most])]
    head, *texts = in_columns(rows, width, left=2, leave_out=_LEFT_OUT)
    yield (_dim(head),)
    yield from ((text,) for text in texts)
    if (more := len(groups) - most) > 0:
        yield (_dim(f"  {counted(more, 'more signal')}; {_SEE_REPORT}"),)


def _row(group: Sequence[Compared], *, narrow: bool) -> tuple[str, ...]:
    one, others = group[0], len(group) - 1
    where = short(place(one), _NARROW_PLACE if narrow else _PLACE_WIDTH)
    more = "" if not others else f" +{others}" if narrow else f" (and {others} more)"
    return one.signal.title, where + more, *cells(one)


def _names(heading: str, found: Sequence[Compared]) -> Iterator[Line]:
    if found:
        yield from _title(heading)
        yield (_dim(f"  {listed([group[0].signal.title for group in by_signal(found)], _MOST_NAMES)}"),)


def _crossed(comparison: Comparison, most: int) -> Iterator[Line]:
    found = comparison.thresholds
    for side, findings in ((comparison.second, found.only_second), (comparison.first, found.only_first)):
        if findings:
            yield from _title(f"Limits crossed only in {side.called}")
            yield from map(_finding, findings[:most])
            if (more := len(findings) - most) > 0:
                yield (_dim(f"  {counted(more, 'more limit')}; {_SEE_REPORT}"),)
    if found.both:
        yield ()
        yield (_dim(f"Crossed in both: {listed([one.signal.title for _, one in found.both], _MOST_NAMES)}."),)
    if found.unjudged:
        names = [one.signal.title for one in found.unjudged]
        yield (_dim(f"Crossed in one run, and not judged in the other: {listed(names, _MOST_NAMES)}."),)


def _finding(one: Finding) -> Line:
    return (f"  {MARKS[one.rule.severity]} ", COLOURS[one.rule.severity]), breach_sentence(one)


def _others(comparison: Comparison) -> Iterator[Line]:
    """What means hide, and the counters that no signal knows."""
    if comparison.reshaped:
        yield from _title("Beyond the means")
        yield from ((f"  {told(one)}",) for one in comparison.reshaped[:_MOST_CROSSED])
        if (more := len(comparison.reshaped) - _MOST_CROSSED) > 0:
            yield (_dim(f"  {counted(more, 'more signal')}"),)
    found = comparison.others
    if found.changed:
        yield from _title("Counters that no signal knows, and that changed")
        shown = [*found.costs, *(one for one in found.changed if one not in found.costs)]
        yield from ((f"  {counter_text(one)}",) for one in shown[:_MOST_CROSSED])
        if (more := len(shown) - _MOST_CROSSED) > 0:
            yield (_dim(f"  {counted(more, 'more counter')}"),)
    if text := not_compared(comparison):
        yield ()
        yield (_dim(text),)


def _recorded(comparison: Comparison) -> Iterator[Line]:
    if comparison.integrating:
        names = [one.title for one in comparison.integrating]
        yield (_dim(f"Not compared by their means, as they add up over time: {listed(names, _MOST_NAMES)}."),)
    for side, lone in zip((comparison.first, comparison.second), comparison.lone, strict=True):
        if lone:
            names = list(dict.fromkeys(f"{one.signal.title} ({one.host})" for one in lone))
            yield (_dim(f"Recorded only in {side.called}: {listed(names, _MOST_NAMES)}."),)
    for side, hosts in zip((comparison.first, comparison.second), comparison.hosts.alone, strict=True):
        if hosts:
            yield (_dim(f"Only {side.called} has the hosts {listed(hosts, _MOST_NAMES)}."),)
    yield from ((f"{proposed(comparison, one)}.",) for one in comparison.proposals[:_MOST_CROSSED])


def _runs(comparisons: Sequence[Comparison], width: int | None) -> Iterator[Line]:
    """The run table: a row for each column of the study's table, as many runs beside each other as fit."""
    rows = run_table(comparisons)
    yield from _title("Runs (ramp-up / steady, where the phases are known)")
    names = ["", *columns(rows)]
    if width and width < _NARROW:
        names = [short(name, _NAMES_WIDTH) for name in names]
    sides = [[row.side.name, *(row.cells.get(name, "–") for name in columns(rows))] for row in rows]
    while sides:
        beside = next((at for at in range(len(sides), 1, -1) if _fits(names, sides[:at], width)), 1)
        head, *texts = in_columns([*zip(names, *sides[:beside], strict=True)], None, left=1 + beside)
        yield (_dim(head),)
        yield from ((text,) for text in texts)
        sides = sides[beside:]
        if sides:
            yield ()


def _fits(names: Sequence[str], sides: Sequence[Sequence[str]], width: int | None) -> bool:
    return width is None or sum(2 + max(map(len, column)) for column in (names, *sides)) <= width
