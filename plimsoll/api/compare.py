"""`plimsoll.compare`: how runs differ from a baseline."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path

from plimsoll.api import inputs
from plimsoll.api.run_comparison import How, compare_inputs
from plimsoll.api.run_review import Options
from plimsoll.comparison.compare import Comparison
from plimsoll.comparison.story import Answer, answer, story
from plimsoll.model.parameters import as_options
from plimsoll.model.styled import plain
from plimsoll.model.time_arguments import TimeRange
from plimsoll.model.times import Zone
from plimsoll.report.comparison.document import lines
from plimsoll.report.comparison.json_document import ComparisonDocument, document


@dataclass(frozen=True)
class ComparisonResult:
    """The comparison of each run with the first. `str` is what `plimsoll compare` prints."""

    comparisons: tuple[Comparison, ...]
    zone: Zone | None

    @property
    def answers(self) -> tuple[Answer, ...]:
        """Whether each run is worse than the baseline, not worse, or that is not known."""
        return tuple(map(answer, self.comparisons))

    @property
    def stories(self) -> tuple[tuple[str, ...], ...]:
        """For each run, in three sentences: the load, what became worse or better, and what did not change."""
        return tuple(tuple(story(comparison)) for comparison in self.comparisons)

    @cached_property
    def document(self) -> ComparisonDocument:
        """What `plimsoll compare --json` writes, as objects."""
        return document(self.comparisons)

    def to_json(self) -> str:
        """What `plimsoll compare --json` writes."""
        return self.document.model_dump_json(by_alias=True, indent=2)

    def to_html(self) -> str:
        """What `plimsoll compare --out` writes."""
        from plimsoll.report.comparison.html import render  # noqa: PLC0415  only the HTML report needs jinja2

        return as_options(render(self.comparisons, self.zone))

    def __str__(self) -> str:
        return as_options(plain(lines(self.comparisons, self.zone)))

    def __repr__(self) -> str:
        told = "; ".join(" ".join(sentences) for sentences in self.stories)
        return f"<{type(self).__name__}: {told}>"


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
    """Compare runs with a baseline: each a log, a folder of logs, or `run:NAME`.

    The arguments are the options of `plimsoll compare`: `phase` is the one to judge by (`"steady"`, `"whole run"`);
    `match_hosts` compares hosts of other names in order; the others are as in `plimsoll.review`.

    Raises:
        Unusable: The input or the call cannot be used. The text says where and what to do.
        Unreachable: The store does not answer.
    """
    given = inputs.of((baseline, *runs), TimeRange(from_, to, last), zone, format, encoding, names, store)
    options = Options(tuple(packs), tuple(only), steady, Path(config) if config is not None else None, whole_run)
    return ComparisonResult(tuple(compare_inputs(given, options, How(phase, match_hosts))), given.requested_zone)
