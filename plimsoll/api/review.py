"""`plimsoll.review` and `plimsoll review`: compare the logs of a run with the thresholds of its rules."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from plimsoll.api.inputs import Inputs, name_inputs, read
from plimsoll.hosts import settings
from plimsoll.ingest.reading import LogSet
from plimsoll.insights.insights import Insights
from plimsoll.model.lazy_dataclass import dataclass
from plimsoll.model.parameters import replace_marks_by_options
from plimsoll.model.remark import Remark
from plimsoll.model.styled import join_lines
from plimsoll.model.time_arguments import TimeRange
from plimsoll.model.times import Zone
from plimsoll.report import terminal_summary
from plimsoll.review.findings import Finding
from plimsoll.review.review import Review
from plimsoll.review.review_logs import review_logs
from plimsoll.review.verdict import Verdict
from plimsoll.rules.load import load

if TYPE_CHECKING:
    from plimsoll.report.json import ReviewDocument


@dataclass(frozen=True)
class ReviewSettings:
    """How to judge, as the user says: `packs` are added to the shipped packs, `only` replaces them."""

    packs: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    steady: str | None = None
    config: Path | None = None
    whole_run: bool = False


def review_inputs(inputs: Inputs, options: ReviewSettings) -> Review:
    """Read the inputs and judge them by the packs and by the plimsoll.toml that belongs to the inputs."""
    return judge_inputs(inputs, options)[0]


def judge_inputs(inputs: Inputs, options: ReviewSettings) -> tuple[Review, Path | None, settings.Settings]:
    """Judge the inputs; return the review, the path of plimsoll.toml (None without one), and the settings in it."""
    files = read(replace(inputs, signals=lambda: load(options.packs, options.only).signals))
    catalogue = load(options.packs, options.only)
    path, configured = _load_settings(inputs, options.config, files)
    when = None if inputs.is_part else inputs.when  # of live hosts only that part was read
    result = review_logs(
        files,
        catalogue,
        configured,
        path,
        zone=inputs.requested_zone,
        steady=options.steady,
        whole_run=options.whole_run,
        in_operation=inputs.is_part,
        when=when,
    )
    return result, path, configured


def _load_settings(inputs: Inputs, config: Path | None, files: LogSet) -> tuple[Path | None, settings.Settings]:
    """Return path and content of the settings: of --config, else of the stored run, else of the file beside the logs.

    Without any settings, the path is None, and the content is the default.
    """
    if config is None and files.run is not None:
        source = Path(inputs.sources[0])
        return source, settings.parse(files.run.settings or "", source)
    path = config if inputs.is_part else settings.find(files.logs, config)
    return path, settings.load(path) if path else settings.Settings()


@dataclass(frozen=True)
class ReviewResult:
    """The review of a run. `str` returns the text that `plimsoll review` prints."""

    insights: Insights
    zone: Zone | None

    @property
    def review(self) -> Review:
        """The complete review: the run, the rules that judged it, and their results."""
        return self.insights.review

    @property
    def verdict(self) -> Verdict:
        """The verdict on the run: healthy, not healthy, or unknown."""
        return self.review.verdict

    @property
    def headline(self) -> str:
        """The verdict and the reason for it, in a sentence or two."""
        return replace_marks_by_options(self.review.headline)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The result of each rule on each host or instance, the worst first."""
        return self.review.findings

    @property
    def remarks(self) -> tuple[Remark, ...]:
        """Remarks on what was skipped, repaired or guessed in the logs."""
        return self.review.remarks

    @cached_property
    def document(self) -> "ReviewDocument":
        """The JSON document that `plimsoll review --json` writes (docs/review-json.md), as pydantic objects."""
        from plimsoll.report.json import ReviewDocument  # noqa: PLC0415  its schema is slow to make

        return ReviewDocument.model_validate(self.insights)

    def to_json(self) -> str:
        """Return the text that `plimsoll review --json` writes."""
        return self.document.model_dump_json(by_alias=True, indent=2)

    def to_html(self) -> str:
        """Return the HTML that `plimsoll review --out` writes."""
        from plimsoll.report.html.render import render  # noqa: PLC0415  only the HTML report needs jinja2

        return replace_marks_by_options(render(self.insights, self.zone))

    def __str__(self) -> str:
        return replace_marks_by_options(join_lines(terminal_summary.format_lines(self.insights, self.zone)))

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.headline}>"


def review(
    *logs: str | PathLike[str],
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
) -> ReviewResult:
    """Judge the counters of a run (logs, a folder, `run:NAME` or `live:HOST`) by their documented thresholds.

    The arguments are the options of `plimsoll review`: `packs` (`--pack`) are added to the shipped packs, `only`
    replaces them; `steady` is the steady phase (`"10:22/12:00"`); `from_`, `to` and `last` select a time range
    (`"10:22"`, `"15m"`).

    Raises:
        Unusable: The input or the call cannot be used. The error's text says where, and what to do.
        Unreachable: The store does not answer.
    """
    inputs = name_inputs(logs, TimeRange(from_, to, last), zone, format, encoding, names, store)
    options = ReviewSettings(tuple(packs), tuple(only), steady, Path(config) if config is not None else None, whole_run)
    return ReviewResult(Insights(review_inputs(inputs, options)), inputs.requested_zone)
