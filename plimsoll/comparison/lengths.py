"""How long each of two runs was judged: a short one does not show what a long one does."""

from plimsoll.comparison.compare import Comparison
from plimsoll.model.times import duration_text

# Our choices, shares of the baseline: below the first it is said, below the second nothing can be said.
_SHORT = 0.5
_TOO_SHORT = 0.25


def too_short(comparison: Comparison) -> str:
    """That the second run is so much shorter that it does not show whether it is worse; empty if it is not."""
    shares = [_share(*_lengths(comparison)), _share(*_runs(comparison))]
    return f"{_text(comparison)}, too little to compare" if max(shares) < _TOO_SHORT else ""


def short(comparison: Comparison) -> str:
    """That much less of the second run is compared, as a sentence; empty if it is not, or a doubt says so."""
    is_short = _share(*_lengths(comparison)) < _SHORT and not too_short(comparison)
    return f"{_text(comparison)}." if is_short else ""


def _text(comparison: Comparison) -> str:
    first, second = _lengths(comparison)
    of = f" of {comparison.phase.name} phase" if comparison.phase.first else ""
    return (
        f"{comparison.second.called} has {duration_text(second)}{of}, {comparison.first.called} {duration_text(first)}"
    )


def _share(first: int, second: int) -> float:
    return second / first if first else 1.0


def _lengths(comparison: Comparison) -> tuple[int, int]:
    """Of what is compared of both runs."""
    first, second = comparison.phase.first, comparison.phase.second
    return (first.end - first.start, second.end - second.start) if first and second else _runs(comparison)


def _runs(comparison: Comparison) -> tuple[int, int]:
    reviews = comparison.first.review, comparison.second.review
    first, second = ((one.end or 0) - (one.start or 0) for one in reviews)
    return first, second
