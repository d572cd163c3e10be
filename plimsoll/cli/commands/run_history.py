"""`plimsoll runs judge` and `plimsoll runs trend`: runs of a store against those before them."""

import json as json_module
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal

import typer

from plimsoll.api.compare import CompareOptions
from plimsoll.api.inputs import RUN
from plimsoll.api.open_store import open_store
from plimsoll.api.review import ReviewSettings, reviewed
from plimsoll.cli import args
from plimsoll.cli.commands.compare import exit_status, write_comparison
from plimsoll.cli.console import print_notice
from plimsoll.cli.outputs import Outputs
from plimsoll.comparison.signal_settings import checked
from plimsoll.comparison.trend import FEWEST, HistoryTrend, RunMeans
from plimsoll.comparison.trend import trend as find_trend
from plimsoll.model.errors import Unusable
from plimsoll.model.parameters import Parameter
from plimsoll.model.remark import counted, listed
from plimsoll.model.times import iso
from plimsoll.report.comparison import trend as trend_report
from plimsoll.store.protocol import RunSummary

RunArgument = Annotated[str, typer.Argument(help="The name of a run.", metavar="RUN")]
FEW = 5  # runs of a baseline; with fewer, how much runs differ is hardly known from them


def judge(
    run: RunArgument,
    like: list[str] | None = typer.Option(
        None,
        "--like",
        metavar="LABEL=VALUE",
        help="Which earlier runs are the baseline: those with this label; may be repeated. Default: those with the "
        "labels of the run.",
    ),
    most: int = typer.Option(
        10, "--most", metavar="N", min=1, help="How many of them, the latest first, are compared with."
    ),
    zone: args.ZoneOption = None,
    out: Path | None = args.path_option(None, "--out", "Write the comparison as one HTML file."),
    json: args.JsonOption = None,
    junit: Path | None = args.path_option(None, "--junit", "Write JUnit XML."),
    markdown: args.MarkdownOption = None,
    fail_on: Literal["regression"] | None = typer.Option(
        None, "--fail-on", help="Exit with status 1 if the run is worse than those before it."
    ),
    details: args.DetailsOption = False,
    store: args.StoreOption = None,
) -> None:
    """Compare a run with the runs before it that are alike: whether it is worse than runs of the baseline are."""
    with open_store(store, notify=print_notice) as opened:
        runs, where = opened.runs.summaries(), opened.name
    new = next((run_summary for run_summary in runs if run_summary.name == run), None)
    if new is None:
        raise Unusable(f'run "{run}" is not in {where}; plimsoll runs list tells which are')
    labels = new.labels if like is None else _labels(like)
    before = [earlier for earlier in _runs_with(runs, labels) if earlier.start < new.start][-most:]
    if not before:
        text = listed([f"{key}={value}" for key, value in labels.items()], 6) or "no label"
        raise Unusable(f'{where} has no complete run before "{run}" with {text}; {Parameter.LIKE} says which count')
    if len(before) < FEW:
        print_notice(f"only {counted(len(before), 'earlier run')}; {FEW} to 10 show by how much runs differ")
    sources = tuple(f"{RUN}{run_summary.name}" for run_summary in (*before, new))
    inputs = args.typed_inputs(sources, zone, store=store)
    comparisons = write_comparison(
        inputs,
        ReviewSettings(),
        CompareOptions(baselines=len(before), ends_at_change=True),
        Outputs(out, json, junit, markdown),
        details=details,
    )
    raise typer.Exit(exit_status(comparisons) if fail_on else 0)


def trend(
    like: list[str] | None = typer.Option(
        None, "--like", metavar="LABEL=VALUE", help="Only runs with this label; may be repeated."
    ),
    zone: args.ZoneOption = None,
    json: args.JsonOption = None,
    junit: Path | None = args.path_option(None, "--junit", "Write JUnit XML."),
    markdown: args.MarkdownOption = None,
    store: args.StoreOption = None,
) -> None:
    """Show where the levels of signals changed over the runs in a store, as of nights or builds: since which run."""
    outputs = Outputs(json=json, junit=junit, markdown=markdown)
    outputs.refuse_overwriting(())
    labels = _labels(like or ())
    with open_store(store, notify=print_notice) as opened:
        runs, where = opened.runs.summaries(), opened.name
    chosen = _runs_with(runs, labels)
    if len(chosen) < FEWEST:
        raise Unusable(f"{where} has {counted(len(chosen), 'such run')}; a trend needs {FEWEST} or more")
    means: list[RunMeans] = []
    treatments = None
    for at, run_summary in enumerate(chosen, 1):
        print_notice(f"reading run {at} of {len(chosen)}: {run_summary.name}")
        review, path, settings = reviewed(
            args.typed_inputs([f"{RUN}{run_summary.name}"], zone, store=store), ReviewSettings()
        )
        treatments = checked(settings.compare, path, review.question.signals)  # that of the latest run stays
        means.append(RunMeans.of(run_summary.name, review))
    assert treatments is not None
    result = find_trend(means, treatments)
    outputs.write(
        json=lambda: json_module.dumps(_trend_document(result), ensure_ascii=False, indent=2),
        junit=lambda: trend_report.junit(result),
        markdown=lambda: trend_report.markdown(result),
        lines=lambda: trend_report.lines(result),
    )


def _runs_with(runs: Sequence[RunSummary], labels: Mapping[str, str]) -> list[RunSummary]:
    """Return the complete runs with these labels, the latest last."""
    alike = [run for run in runs if run.complete and labels.items() <= run.labels.items()]
    return sorted(alike, key=lambda run: (run.start, run.name))


def _labels(like: Sequence[str]) -> dict[str, str]:
    """Return the labels that --like names. Unusable if one is not written as NAME=VALUE."""
    labels: dict[str, str] = {}
    for text in like:
        key, equals, value = text.partition("=")
        if not equals or not key.strip():
            raise Unusable(f'{Parameter.LIKE} "{text}": write a label as NAME=VALUE')
        labels[key.strip()] = value.strip()
    return labels


def _trend_document(trend: HistoryTrend) -> dict[str, object]:
    return {
        "schema": "plimsoll.trend/1",
        "runs": [{"run": run.name, "start": None if run.start is None else iso(run.start)} for run in trend.runs],
        "signals": trend.signals,
        "runs_needed": FEWEST,
        "not_in_all_runs": [
            {"signal": name, "host": subject.host, "instance": subject.instance} for name, _, subject in trend.partly
        ],
        "changes": [
            {
                "signal": change.name,
                "host": change.subject.host,
                "instance": change.subject.instance,
                "unit": change.signal.unit,
                "from_run": change.run.name,
                "before": change.point.before,
                "after": change.point.after,
                "interval": {"low": change.interval.low, "high": change.interval.high},
                "chance": change.point.chance,
                "worse": change.is_worse,
            }
            for change in trend.changes
        ],
    }
