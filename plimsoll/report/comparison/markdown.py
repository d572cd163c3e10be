"""A comparison as a summary in Markdown, as for a pull request: the answer, its reasons, what became worse."""

import re
from collections.abc import Iterator, Sequence

from plimsoll.comparison.compare import Comparison
from plimsoll.comparison.crossings import crossings
from plimsoll.comparison.judging import Compared, Outcome
from plimsoll.comparison.sentences import by_signal, place
from plimsoll.comparison.story import ANSWERS, account, answer
from plimsoll.model.remark import counted
from plimsoll.report.comparison.words import TITLES, cells
from plimsoll.review.sentences import breach_sentence

_TOLD = (Outcome.REGRESSION, Outcome.IMPROVEMENT)
_MOST_ROWS = 10
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>|#])")


def markdown(comparisons: Sequence[Comparison]) -> str:
    """The summary of each comparison with one baseline."""
    return "\n".join(line for one in comparisons for line in _lines(one))


def _lines(comparison: Comparison) -> Iterator[str]:
    said = answer(comparison)
    names = ", ".join(one.name for one in comparison.baselines)
    yield f"## {ANSWERS[said]} {plain(comparison.second.name)} compared with {plain(names)}"
    yield ""
    yield from (f"- {plain(sentence)}" for sentence in account(comparison))
    yield from (f"- {plain(breach_sentence(one))}" for one in crossings(comparison)[:_MOST_ROWS])
    yield ""
    groups = by_signal(comparison.of(*_TOLD))
    if groups:
        yield "| | | baseline | this run | change | difference, 95 % interval |"
        yield "|---|---|---:|---:|---:|---:|"
        yield from (_row(group[0]) for group in groups[:_MOST_ROWS])
        if (more := len(groups) - _MOST_ROWS) > 0:
            yield f"\n{counted(more, 'more signal')} differ."
        yield ""


def _row(one: Compared) -> str:
    shown = (f"{TITLES[one.outcome]}: {one.signal.title}", place(one), *cells(one)[:4])
    return f"| {' | '.join(map(plain, shown))} |"


def plain(text: str) -> str:
    """Text of strangers, so that Markdown shows it as it is."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))
