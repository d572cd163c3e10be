"""Reads runs, reviews and compares them, as `plimsoll compare` and `plimsoll.compare` do."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from plimsoll.api.inputs import Inputs
from plimsoll.api.run_review import Options, reviewed
from plimsoll.comparison.compare import Comparison, Side
from plimsoll.comparison.treatments import checked
from plimsoll.insights.insights import Insights
from plimsoll.model.errors import Unusable
from plimsoll.model.parameters import Parameter
from plimsoll.model.remark import counted
from plimsoll.review.review import Review


@dataclass(frozen=True)
class How:
    """How to compare, as typed.

    Attributes:
        phase: The phase to judge by.
        match_hosts: Whether hosts of other names are matched in order.
        baselines: How many of the runs, from the first, are the baseline.
    """

    phase: str | None = None
    match_hosts: bool = False
    baselines: int = 1


def compare_inputs(inputs: Inputs, options: Options, how: How) -> list[Comparison]:
    """Compare each run with the baseline. `inputs` names a run with each of its sources. Unusable if one is alone."""
    if len(inputs.sources) < 2:
        raise Unusable("compare needs two runs or more: logs, folders or run:NAME; the first is the baseline")
    if not 1 <= how.baselines < len(inputs.sources):
        raise Unusable(
            f"{Parameter.BASELINE} {how.baselines}: of {counted(len(inputs.sources), 'run')}, the first "
            f"1 to {len(inputs.sources) - 1} can be the baseline; the others are compared with it"
        )
    read = [reviewed(replace(inputs, sources=(source,)), options) for source in inputs.sources]
    sides = _sides(inputs.sources, [review for review, _, _ in read])
    *earlier, baseline = sides[: how.baselines]
    _, path, given = read[0]
    treatments = checked(given.compare, path, baseline.review.question.signals)
    return [
        Comparison(baseline, other, treatments, how.match_hosts, how.phase, tuple(earlier))
        for other in sides[how.baselines :]
    ]


def _sides(sources: Sequence[str], reviews: Sequence[Review]) -> list[Side]:
    """The runs by their names, or as they were named where names are missing or alike."""
    names = [review.run.name or "" for review in reviews]
    if not all(names) or len(set(names)) < len(names):
        names = [Path(source).name or source for source in sources]
    if len(set(names)) < len(names):
        names = [f"{name} ({number})" for number, name in enumerate(names, 1)]
    return [Side(name, source, Insights(review)) for name, source, review in zip(names, sources, reviews, strict=True)]
