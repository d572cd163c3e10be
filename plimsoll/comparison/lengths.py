"""How long each of two runs was judged: a short one does not show what a long one does."""

from plimsoll.comparison.compare import Comparison, Side
from plimsoll.model.run import Phase
from plimsoll.model.times import duration_text

# Our choices, shares of the baseline: below the first it is said, below the second nothing can be said.
_SHORT = 0.5
_TOO_SHORT = 0.25


def too_short(comparison: Comparison) -> str:
    """That the second run is so much shorter that it does not show whether it is worse; empty if it is not."""
    return f"{_text(comparison)}, too little to compare" if _share(comparison) < _TOO_SHORT else ""


def short(comparison: Comparison) -> str:
    """That the second run is much shorter, as a sentence; empty if it is not, or a doubt says so."""
    return f"{_text(comparison)}." if _TOO_SHORT <= _share(comparison) < _SHORT else ""


def _text(comparison: Comparison) -> str:
    first, second = _lengths(comparison)
    of = f" of {comparison.phase.name} phase" if comparison.phase.first else ""
    return (
        f"{comparison.second.called} has {duration_text(second)}{of}, {comparison.first.called} {duration_text(first)}"
    )


def _share(comparison: Comparison) -> float:
    first, second = _lengths(comparison)
    return second / first if first else 1.0


def _lengths(comparison: Comparison) -> tuple[int, int]:
    phase = comparison.phase
    return _length(phase.first, comparison.first), _length(phase.second, comparison.second)


def _length(phase: Phase | None, side: Side) -> int:
    if phase is not None:
        return phase.end - phase.start
    return (side.review.end or 0) - (side.review.start or 0)
