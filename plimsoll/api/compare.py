"""`plimsoll.compare` and `plimsoll compare`: how runs differ from a baseline."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from plimsoll.api.inputs import Inputs, name_inputs
from plimsoll.api.review import ReviewSettings, judge_inputs
from plimsoll.comparison.compare import Comparison, RunSide
from plimsoll.comparison.signal_settings import check_settings
from plimsoll.comparison.summary import Answer, answer, tell_story
from plimsoll.comparison.trend import RunMeans, find_change_for_the_worse
from plimsoll.insights.insights import Insights
from plimsoll.model.errors import Unusable
from plimsoll.model.parameters import Parameter, replace_marks_by_options
from plimsoll.model.remark import format_count
from plimsoll.model.run import AcceptedChange
from plimsoll.model.styled import join_lines
from plimsoll.model.time_arguments import TimeRange
from plimsoll.model.times import Zone
from plimsoll.report.comparison.document import format_lines
from plimsoll.review.review import Review

if TYPE_CHECKING:
    from plimsoll.report.comparison.json_document import ComparisonDocument


@dataclass(frozen=True)
class CompareOptions:
    """How to compare runs: by which phase (None: the steady phase, else the whole run), and with which baseline.

    The first `baselines` runs are the baseline. With `match_hosts`, hosts with different names are matched in order.
    With `ends_at_change`, only a part of the baseline counts: from the latest run whose change was `accepted`, up to
    the run before a signal changed for the worse. The runs must then be in order of time.
    """

    phase: str | None = None
    match_hosts: bool = False
    baselines: int = 1
    ends_at_change: bool = False
    accepted: tuple[AcceptedChange, ...] = ()


def compare_inputs(inputs: Inputs, options: ReviewSettings, compare_options: CompareOptions) -> list[Comparison]:
    """Compare each run with the baseline. Each source of `inputs` is a run.

    Raise Unusable if there are fewer than two runs, or if no run is left to compare with the baseline.
    """
    if len(inputs.sources) < 2:
        raise Unusable("compare needs two runs or more: logs, folders or run:NAME; the first is the baseline")
    if not 1 <= compare_options.baselines < len(inputs.sources):
        raise Unusable(
            f"{Parameter.BASELINE} {compare_options.baselines}: of {format_count(len(inputs.sources), 'run')}, the "
            f"first 1 to {len(inputs.sources) - 1} can be the baseline; the others are compared with it"
        )
    read = [judge_inputs(replace(inputs, sources=(source,)), options) for source in inputs.sources]
    sides = _name_sides(inputs.sources, [review for review, _, _ in read])
    _, path, configured = read[0]
    treatments = check_settings(configured.compare, path, sides[0].review.question.signals)
    baselines, changed, accepted = sides[: compare_options.baselines], None, None
    if compare_options.ends_at_change:
        means = [RunMeans.of(side.name, side.review) for side in sides]
        if changed := find_change_for_the_worse(means, treatments, compare_options.accepted):
            baselines = baselines[: means.index(changed.run)]
        names = [side.name for side in baselines]
        accepted = max(
            (change for change in compare_options.accepted if change.run in names),
            key=lambda change: names.index(change.run),
            default=None,
        )
        baselines = baselines[names.index(accepted.run) :] if accepted else baselines
    *earlier, baseline = baselines
    options_of_all = compare_options.match_hosts, compare_options.phase, tuple(earlier), changed, accepted
    return [Comparison(baseline, other, treatments, *options_of_all) for other in sides[compare_options.baselines :]]


def _name_sides(sources: Sequence[str], reviews: Sequence[Review]) -> list[RunSide]:
    """Return the reviewed runs as sides, named by run, or all by source if a run has no name or the name of another."""
    names = [review.run.name or "" for review in reviews]
    if not all(names) or len(set(names)) < len(names):
        names = [Path(source).name or source for source in sources]
    if len(set(names)) < len(names):
        names = [f"{name} ({number})" for number, name in enumerate(names, 1)]
    return [
        RunSide(name, source, Insights(review)) for name, source, review in zip(names, sources, reviews, strict=True)
    ]


@dataclass(frozen=True)
class ComparisonResult:
    """The comparison of each run with the baseline. `str` returns the text that `plimsoll compare` prints."""

    comparisons: tuple[Comparison, ...]
    zone: Zone | None

    @property
    def answers(self) -> tuple[Answer, ...]:
        """For each run: whether it is worse than the baseline, not worse, or whether this is unknown."""
        return tuple(map(answer, self.comparisons))

    @property
    def stories(self) -> tuple[tuple[str, ...], ...]:
        """For each run: sentences on its load, on what got worse or better, and on what did not change."""
        return tuple(tuple(tell_story(comparison)) for comparison in self.comparisons)

    @cached_property
    def document(self) -> "ComparisonDocument":
        """The JSON document that `plimsoll compare --json` writes, as pydantic objects."""
        from plimsoll.report.comparison.json_document import build_document  # noqa: PLC0415  its schema is slow to make

        return build_document(self.comparisons)

    def to_json(self) -> str:
        """Return the text that `plimsoll compare --json` writes."""
        return self.document.model_dump_json(by_alias=True, indent=2)

    def to_html(self) -> str:
        """Return the HTML that `plimsoll compare --out` writes."""
        from plimsoll.report.comparison.comparison_page import render  # noqa: PLC0415  only the HTML report needs jinja2

        return replace_marks_by_options(render(self.comparisons, self.zone))

    def __str__(self) -> str:
        return replace_marks_by_options(join_lines(format_lines(self.comparisons, self.zone)))

    def __repr__(self) -> str:
        text = "; ".join(" ".join(sentences) for sentences in self.stories)
        return f"<{type(self).__name__}: {text}>"


def compare(
    baseline: str | PathLike[str],
    *runs: str | PathLike[str],
    phase: str | None = None,
    match_hosts: bool = False,
    packs: Sequence[str] = (),
    only: Sequence[str] = (),
    steady: str | None = None,
    whole_run: bool = False,
    from_: str | None = None,
    to: str | None = None,
    last: str | None = None,
    config: str | PathLike[str] | None = None,
    zone: str | None = None,
    format: str | None = None,
    encoding: str | None = None,
    names: Sequence[str | PathLike[str]] = (),
    store: str | None = None,
) -> ComparisonResult:
    """Compare runs with a baseline. The baseline and each run is a log, a folder of logs, or `run:NAME`.

    The arguments are the options of `plimsoll compare`: `phase` is the phase to judge (`"steady"`, `"whole run"`);
    `match_hosts` matches hosts with different names in order; the rest are as in `plimsoll.review`.

    Raises:
        Unusable: The input or the call cannot be used. The error's text says where, and what to do.
        Unreachable: The store does not answer.
    """
    inputs = name_inputs((baseline, *runs), TimeRange(from_, to, last), zone, format, encoding, names, store)
    options = ReviewSettings(tuple(packs), tuple(only), steady, Path(config) if config is not None else None, whole_run)
    return ComparisonResult(
        tuple(compare_inputs(inputs, options, CompareOptions(phase, match_hosts))), inputs.requested_zone
    )
