"""A series of runs as text of one screen, and as a summary in Markdown."""

from collections.abc import Iterator

from plimsoll.comparison.trend import Change, Trend
from plimsoll.model.remark import counted, listed
from plimsoll.model.styled import Line
from plimsoll.model.value_text import percent, quantity
from plimsoll.report.comparison.markdown import plain
from plimsoll.report.comparison.words import signed

_MOST_ROWS = 15
_MOST_NAMES = 6


def lines(found: Trend) -> Iterator[Line]:
    """The answer, and a line for each change, those of the latest runs first."""
    style = "bold red" if is_worse(found) else "bold"
    yield (answer(found), style), f" {scope(found)}"
    if found.changes:
        yield ()
    for one in found.changes[:_MOST_ROWS]:
        head = f"  {_direction(one):6}  since {one.run.name}: "
        yield head, f"{one.signal.title} of {one.subject} {change_text(one)}"
    yield from (((f"  {text}", "dim"),) for text in (*_more(found), *limits_of(found)))


def markdown(found: Trend) -> str:
    """The answer, and a table of the changes."""
    return "".join(f"{line}\n" for line in _markdown(found))


def _markdown(found: Trend) -> Iterator[str]:
    yield f"## {answer(found)}"
    yield ""
    yield f"- {plain(scope(found))}"
    yield from (f"- {plain(text)}" for text in (*_more(found), *limits_of(found)))
    yield ""
    if found.changes:
        yield "| since run | | | change | difference of the levels |"
        yield "|---|---|---|---|---|"
        for one in found.changes[:_MOST_ROWS]:
            what = f"{_direction(one).capitalize()}: {one.signal.title}"
            row = one.run.name, what, str(one.subject), _moved(one), f"{_share(one)}{_interval(one)}"
            yield f"| {' | '.join(map(plain, row))} |"
        yield ""


def is_worse(found: Trend) -> bool:
    """Whether a signal became worse."""
    return any(one.is_worse for one in found.changes)


def answer(found: Trend) -> str:
    """The answer in two words."""
    if not found.changes:
        return "Nothing changed." if found.can_tell else "Not known."
    return "Became worse." if is_worse(found) else "Became better."


def scope(found: Trend) -> str:
    """What was looked at."""
    runs = f"{counted(len(found.runs), 'run')}, {found.runs[0].name} to {found.runs[-1].name}"
    looked = f"{counted(found.signals, 'signal')} of {runs}; what grows with every operation is held against the load."
    return f"{counted(len(found.changes), 'change')} in {looked}" if found.changes else looked


def limits_of(found: Trend) -> Iterator[str]:
    """What is not looked at, and what cannot be told."""
    if not found.signals:
        yield "No signal of which one direction is worse is in all runs."
    elif not found.can_tell:
        yield f"Too few runs to tell a change of one of {counted(found.signals, 'signal')}: {found.needed} would do."
    if found.partly:
        names = listed(list(dict.fromkeys(signal.title for _, signal, _ in found.partly)), _MOST_NAMES)
        yield f"Not looked at, as not all runs have them: {names}."
    yield "A change of the last two runs shows once there is a third."


def change_text(one: Change) -> str:
    """`rose from 40 % to 46 % (+15 %; 95 %: +5 points to +7 points)`."""
    return f"{_moved(one)} ({_share(one)}{_interval(one)})"


def _more(found: Trend) -> Iterator[str]:
    if (more := len(found.changes) - _MOST_ROWS) > 0:
        yield f"{counted(more, 'more change')}, of earlier runs, in the JSON."


def _direction(one: Change) -> str:
    return "worse" if one.is_worse else "better"


def _moved(one: Change) -> str:
    before, after = one.point.before, one.point.after
    verb = "rose" if after > before else "fell"
    return f"{verb} from {quantity(before, one.signal.unit)} to {quantity(after, one.signal.unit)}"


def _share(one: Change) -> str:
    before, after = one.point.before, one.point.after
    return f"{'+' if after > before else '−'}{percent(abs(after / before - 1))}; " if before else ""


def _interval(one: Change) -> str:
    unit = "points" if one.signal.unit == "%" else one.signal.unit
    return f"95 %: {signed(one.interval.low, unit)} to {signed(one.interval.high, unit)}"
