"""A comparison as terminal text: the story first, then what became worse, better, changed, and what did not."""

from collections.abc import Iterator, Sequence

from plimsoll.comparison.compare import Comparison, Side
from plimsoll.comparison.doubts import counter_text, doubts, not_compared, proposed
from plimsoll.comparison.judging import Compared, Outcome
from plimsoll.comparison.loads import LoadComparison
from plimsoll.comparison.reshaped_words import told
from plimsoll.comparison.run_table import columns, run_table
from plimsoll.comparison.sentences import by_signal, place
from plimsoll.comparison.story import ANSWERS, Answer, answer, doubts_left, story
from plimsoll.model.parameters import Parameter
from plimsoll.model.remark import counted, listed, short
from plimsoll.model.styled import Line, Part
from plimsoll.model.times import Zone
from plimsoll.report.comparison.words import TITLES, cells
from plimsoll.report.wording import scope
from plimsoll.review.findings import Finding
from plimsoll.review.sentences import breach_sentence
from plimsoll.rules.severity import COLOURS, MARKS

_STYLES = {Answer.WORSE: "bold red", Answer.NOT_WORSE: "bold", Answer.UNKNOWN: "bold yellow"}
_MOST_ROWS = {Outcome.REGRESSION: 20, Outcome.IMPROVEMENT: 10, Outcome.CHANGE: 8, Outcome.LOAD: 5, Outcome.SPREAD: 5}
_MOST_IN_FULL = 2
_REASON = 200  # characters
_MOST_NAMES = 12
_MOST_CROSSED = 8
_PLACE_WIDTH = 36
_SEE_REPORT = f"{Parameter.OUT} writes a report with all of them"
_HEAD = ("", "", "baseline", "other", "change", "difference, 95 % interval", "independent samples")


def lines(comparisons: Sequence[Comparison], zone: Zone | None = None) -> Iterator[Line]:
    """The comparisons with one baseline, line by line, of many their answers; they fit a screen.

    Times are in `zone`, by default those of the logs.
    """
    if len(comparisons) > _MOST_IN_FULL:
        yield from _briefly(comparisons)
    else:
        for at, comparison in enumerate(comparisons):
            if at:
                yield ()
            yield from _comparison(comparison, zone)
    yield from _runs(comparisons)


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
    yield (_dim(f"  Two runs at a time are shown in full; {Parameter.OUT} writes a report with all of them."),)


def _reason(comparison: Comparison) -> str:
    load, worse, _ = story(comparison)
    if answer(comparison) == Answer.UNKNOWN:
        return f"{'; '.join(doubts(comparison))}."
    return worse if comparison.load.throughput_lost is None else f"{load} {worse}"


def _comparison(comparison: Comparison, zone: Zone | None) -> Iterator[Line]:
    verdict = answer(comparison)
    first, *others = story(comparison)
    yield (ANSWERS[verdict], _STYLES[verdict]), f" {first}"
    for sentence in others:
        if sentence:
            yield (sentence,)
    if verdict == Answer.UNKNOWN and (left := doubts_left(comparison)):
        yield (f"It is not known, as {'; '.join(left)}.",)
    yield ()
    yield (_dim(f"baseline  {_scope(comparison.first, zone)}"),)
    if comparison.earlier:
        names = listed([one.name for one in reversed(comparison.earlier)], _MOST_NAMES)
        yield (_dim(f"          and {counted(len(comparison.earlier), 'earlier run')}: {names}"),)
    yield (_dim(f"other     {_scope(comparison.second, zone)}"),)
    yield (_dim(f"judged in: {comparison.phase.name}{_remark(comparison)}"),)
    if comparison.set_differently:
        yield (f"Set differently: {listed([one.text for one in comparison.set_differently], _MOST_NAMES)}",)
    yield from _load(comparison.load)
    for outcome, most in _MOST_ROWS.items():
        yield from _table(TITLES[outcome], comparison.of(outcome), most)
    for phase, worse in comparison.also_worse():
        yield from _names(f"Worse in the {phase.name} phase alone", worse)
    for outcome in (Outcome.UNCLEAR, Outcome.WITHIN, Outcome.SAME):
        yield from _names(TITLES[outcome], comparison.of(outcome))
    yield from _crossed(comparison)
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


def _load(load: LoadComparison) -> Iterator[Line]:
    if load.signals:
        yield from _table("Load", load.signals, 3)


def _table(heading: str, found: Sequence[Compared], most: int) -> Iterator[Line]:
    """A row for each signal, of the place where it differs most."""
    if not found:
        return
    yield from _title(heading)
    groups = by_signal(found)
    rows = [_HEAD, *(_row(group) for group in groups[:most])]
    widths = [max(len(row[at]) for row in rows) for at in range(len(_HEAD))]
    for at, row in enumerate(rows):
        texts = (
            cell.ljust(width) if column < 2 else cell.rjust(width) for column, (cell, width) in _zipped(row, widths)
        )
        line = ("  " + "  ".join(texts)).rstrip()
        yield (_dim(line) if at == 0 else line,)
    if (more := len(groups) - most) > 0:
        yield (_dim(f"  {counted(more, 'more signal')}; {_SEE_REPORT}"),)


def _zipped(row: Sequence[str], widths: Sequence[int]) -> Iterator[tuple[int, tuple[str, int]]]:
    return enumerate(zip(row, widths, strict=True))


def _row(group: Sequence[Compared]) -> tuple[str, ...]:
    one = group[0]
    more = f" (and {len(group) - 1} more)" if len(group) > 1 else ""
    return one.signal.title, short(place(one), _PLACE_WIDTH) + more, *cells(one)


def _names(heading: str, found: Sequence[Compared]) -> Iterator[Line]:
    if found:
        yield from _title(heading)
        yield (_dim(f"  {listed([group[0].signal.title for group in by_signal(found)], _MOST_NAMES)}"),)


def _crossed(comparison: Comparison) -> Iterator[Line]:
    found = comparison.thresholds
    for side, findings in ((comparison.second, found.only_second), (comparison.first, found.only_first)):
        if findings:
            yield from _title(f"Limits crossed only in {side.called}")
            yield from map(_finding, findings[:_MOST_CROSSED])
            if (more := len(findings) - _MOST_CROSSED) > 0:
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


def _runs(comparisons: Sequence[Comparison]) -> Iterator[Line]:
    """The run table: a row for each column of the study's table, as terminals are narrow."""
    rows = run_table(comparisons)
    yield from _title("Runs (ramp-up / steady, where the phases are known)")
    table = [["", *(row.side.name for row in rows)]]
    table += [[name, *(row.cells.get(name, "–") for row in rows)] for name in columns(rows)]
    widths = [max(len(row[at]) for row in table) for at in range(len(table[0]))]
    for at, row in enumerate(table):
        line = "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        yield (_dim(line) if at == 0 else line,)
