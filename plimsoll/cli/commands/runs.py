"""`plimsoll runs`."""

import json as json_module
from collections.abc import Mapping, Sequence
from datetime import date
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Literal

import typer

from plimsoll.api.compare import CompareOptions
from plimsoll.api.inputs import RUN
from plimsoll.api.open_store import open_store
from plimsoll.api.review import ReviewSettings, judge_inputs
from plimsoll.cli import args
from plimsoll.cli.commands.compare import choose_exit_status, write_comparison
from plimsoll.cli.console import print_line, print_notice, print_table
from plimsoll.cli.outputs import STDOUT, Outputs, write_json
from plimsoll.comparison.signal_settings import check_settings
from plimsoll.comparison.trend import FEWEST, HistoryTrend, RunMeans
from plimsoll.comparison.trend import compute_history_trend as find_trend
from plimsoll.ingest.runs.load import find, unload_run
from plimsoll.ingest.runs.read_run import explain_unknown_run
from plimsoll.model.errors import Unusable
from plimsoll.model.parameters import Parameter
from plimsoll.model.remark import format_count, join_names
from plimsoll.model.run import AcceptedChange
from plimsoll.model.times import format_duration, format_iso
from plimsoll.report.comparison import trend as trend_report
from plimsoll.rules.load import load_signals
from plimsoll.store.folders.runs import RunFolders
from plimsoll.store.lease import LIFE_S, described
from plimsoll.store.protocol import Claim, RunSummary, StoreState

RunArgument = Annotated[str, typer.Argument(help="The name of a run.", metavar="RUN")]
FEW = 5  # runs of a baseline; with fewer, how much runs differ is hardly known from them
_MOST_HOSTS = 2  # that a line names; runs show names all of them
app = args.make_command_app("List, show, judge and delete the runs in a store, and show where they changed.")


@app.command("list", epilog=args.format_examples("plimsoll runs list", "plimsoll runs list --json -"))
def list_runs(store: args.StoreOption = None, json: args.JsonOption = None) -> None:
    """List the runs in a store, the latest first."""
    with open_store(store, notify=print_notice) as opened:
        runs, claims, where = opened.runs.summaries(), opened.runs.claims.current(LIFE_S), opened.name
    if json is not None:
        write_json(json, json_module.dumps([_encode_run(run) for run in runs], ensure_ascii=False, indent=2))
    if json == STDOUT:
        return
    if not runs:
        print_line(f"{where} has no runs; plimsoll ingest LOG --run NAME loads one")
        return
    rows = [
        (
            run.name,
            format_iso(run.start)[:16].replace("T", " "),
            format_duration(run.end - run.start),
            join_names(run.hosts, _MOST_HOSTS),
            ", ".join(f"{name}={value}" for name, value in run.labels.items()),
            _describe_values(run, claims),
        )
        for run in runs
    ]
    print_table(("run", "from (UTC)", "lasted", "hosts", "labels", "values"), rows)


@app.command("show", epilog=args.format_examples("plimsoll runs show nightly-42"))
def show(run: RunArgument, store: args.StoreOption = None, json: args.JsonOption = None) -> None:
    """Show what is stored about a run: span, hosts, labels, phases, files."""
    with open_store(store, notify=print_notice) as opened:
        stored, summary = opened.runs.get(run), find(opened.runs, run)
        claims, where = opened.runs.claims.current(LIFE_S), opened.name
    if summary is None:
        raise Unusable(f'run "{run}" is not in {where}; plimsoll runs list tells which are')
    if stored is None:
        raise Unusable(f"{where}: {explain_unknown_run(run)}")
    files = [
        {
            "path": recording.path,
            "sha256": recording.sha256,
            "format": recording.format,
            "zone": recording.zone.name,
            "samples": len(recording.times),
            "series": len(recording.series),
            "values": sum(recording.present),
        }
        for recording in stored.recordings
    ]
    phases = [
        {"name": phase.name, "start": format_iso(phase.start), "end": format_iso(phase.end)}
        for phase in stored.run.phases
    ]
    if json is not None:
        document = {**_encode_run(summary), "simulated": stored.run.simulated, "phases": phases, "files": files}
        write_json(json, json_module.dumps(document, ensure_ascii=False, indent=2))
    if json == STDOUT:
        return
    zone = stored.recordings[0].zone
    print_line((run, "bold"), " (simulated)" if stored.run.simulated else "")
    facts = [
        (
            "span",
            f"{zone.span(stored.start, stored.end)} {zone.label(stored.start)}, "
            f"{format_duration(stored.end - stored.start)}",
        ),
        ("hosts", ", ".join(stored.hosts)),
        ("labels", ", ".join(f"{key}={value}" for key, value in stored.run.labels.items()) or "none"),
        *(("phase", f"{phase.name} {zone.span(phase.start, phase.end)}") for phase in stored.run.phases),
        ("values", _describe_values(summary, claims)),
    ]
    for label, text in facts:
        print_line(f"  {label:<9} {text}", indent=12)
    for recording in stored.recordings:
        size = f"{format_count(len(recording.times), 'row')} × {format_count(len(recording.series), 'counter')}"
        print_line(f"  file      {recording.path}: {recording.format}, {size}", indent=12)
        print_line((f"            sha256 {recording.sha256}", "dim"), indent=12)
    for remark in stored.remarks:
        print_line((f"  {remark}", "dim"), indent=4)


@app.command("delete", epilog=args.format_examples("plimsoll runs delete nightly-42"))
def delete(
    run: RunArgument,
    store: args.StoreOption = None,
    force: bool = typer.Option(
        False, "--force", help="Even if another command is loading or deleting the run: that command then stops."
    ),
) -> None:
    """Delete a run and its values, except the values that belong to another run as well."""
    with open_store(store, notify=print_notice) as opened:
        unload_run(opened.runs, run, force=force, notify=print_notice)
        where = opened.name
    print_line(f'Run "{run}" is no longer in {where}, nor are its values')


def _describe_values(run_summary: RunSummary, claims: Sequence[Claim]) -> str:
    """Return the number of a run's values as text, and why the run is incomplete.

    `claims` are the leases of commands that are loading or deleting runs at the moment.
    """
    work = next((claim for claim in claims if claim.run == run_summary.name and claim.alive), None)
    if work:
        return f"{run_summary.values:,}, {run_summary.loaded:,} confirmed: {described(work, short=True)}"
    match run_summary.state:
        case StoreState.DELETING:
            return f"{run_summary.values:,}, incomplete: a deletion was cut off; delete it again, or load it again"
        case StoreState.LOADING:
            confirmed = f"{run_summary.values:,}, {run_summary.loaded:,} confirmed"
            return f"{confirmed}, incomplete: loading was cut off; load it again, or delete it"
        case StoreState.COMPLETE:
            refused = f", {format_count(run_summary.refused, 'point')} refused" if run_summary.refused else ""
            return f"{run_summary.values:,}{refused}"


def _encode_run(run_summary: RunSummary) -> dict[str, object]:
    """Return a run as an entry of the JSON that `plimsoll runs list --json` writes."""
    return {
        "run": run_summary.name,
        "start": format_iso(run_summary.start),
        "end": format_iso(run_summary.end),
        "hosts": list(run_summary.hosts),
        "labels": dict(run_summary.labels),
        "files": run_summary.files,
        "values": run_summary.values,
        "loaded": run_summary.loaded,
        "refused": run_summary.refused,
        "state": str(run_summary.state),
        "complete": run_summary.complete,
    }


@app.command("judge", epilog=args.format_examples("plimsoll runs judge nightly-42 --fail-on regression"))
def judge(
    run: RunArgument,
    like: list[str] | None = typer.Option(
        None,
        "--like",
        metavar="LABEL=VALUE",
        help="Use the earlier runs with this label as the baseline; may be repeated. Default: those with the "
        "labels of the run.",
    ),
    most: int = typer.Option(10, "--most", metavar="N", min=1, help="The number of baseline runs, the latest first."),
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
    """Say whether a run is worse than similar earlier runs, which are its baseline."""
    with open_store(store, notify=print_notice) as opened:
        runs, where = opened.runs.summaries(), opened.name
        accepted = opened.runs.accepted() if isinstance(opened.runs, RunFolders) else []
    new = next((run_summary for run_summary in runs if run_summary.name == run), None)
    if new is None:
        raise Unusable(f'run "{run}" is not in {where}; plimsoll runs list tells which are')
    labels = new.labels if like is None else _parse_labels(like)
    before = [earlier for earlier in _select_runs(runs, labels) if earlier.start < new.start][-most:]
    if not before:
        text = join_names([f"{key}={value}" for key, value in labels.items()], 6) or "no label"
        raise Unusable(f'{where} has no complete run before "{run}" with {text}; {Parameter.LIKE} says which count')
    if len(before) < FEW:
        print_notice(f"only {format_count(len(before), 'earlier run')}; {FEW} to 10 show by how much runs differ")
    sources = tuple(f"{RUN}{run_summary.name}" for run_summary in (*before, new))
    inputs = args.parse_inputs(sources, zone, store=store)
    comparisons = write_comparison(
        inputs,
        ReviewSettings(),
        CompareOptions(
            baselines=len(before),
            ends_at_change=True,
            accepted=tuple(
                change for change in accepted if not change.until or format_iso(new.start)[:10] <= change.until
            ),
        ),
        Outputs(out, json, junit, markdown),
        details=details,
    )
    raise typer.Exit(choose_exit_status(comparisons) if fail_on else 0)


@app.command(
    "accept",
    epilog=args.format_examples(
        'plimsoll runs accept nightly-42 --signal cpu.busy --reason "TLS 1.3" --until 2026-12-31'
    ),
)
def accept(
    run: RunArgument,
    signal: str = typer.Option(..., "--signal", metavar="SIGNAL", help="The signal, as in rules counters."),
    reason: str = typer.Option(..., "--reason", metavar="TEXT", help="Why that is right.", callback=args.refuse_empty),
    until: str | None = typer.Option(
        None, "--until", metavar="DATE", help="For runs until this day (UTC), as 2026-12-31. Default: all."
    ),
    store: args.StoreOption = None,
) -> None:
    """Accept a change of a signal: the baseline of later runs begins with the run at which the signal changed."""
    if until is not None:
        try:
            until = date.fromisoformat(until).isoformat()
        except ValueError:
            raise Unusable(f'--until "{until}": write a day as 2026-12-31') from None
    if signal not in (signals := load_signals()):
        near = get_close_matches(signal, signals, 1)
        raise Unusable(f'--signal "{signal}": no signal has this name' + (f"; did you mean {near[0]}?" if near else ""))
    with open_store(store, notify=print_notice) as opened:
        if not isinstance(opened.runs, RunFolders):
            raise Unusable(f"{opened.name}: cannot hold accepted changes; {Parameter.STORE} runs:FOLDER can")
        if find(opened.runs, run) is None:
            raise Unusable(f'run "{run}" is not in {opened.name}; plimsoll runs list tells which are')
        opened.runs.accept(AcceptedChange(run, signal, reason, until or ""))
    print_line(f"Accepted: {signals[signal].title} changed with {run}; the baseline of later runs begins with it")


@app.command(
    "trend", epilog=args.format_examples("plimsoll runs trend", "plimsoll runs trend --like test=nightly --markdown -")
)
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
    """Show which signals have changed over the runs in a store, such as builds, and since which run."""
    outputs = Outputs(json=json, junit=junit, markdown=markdown)
    outputs.refuse_overwriting(())
    labels = _parse_labels(like or ())
    with open_store(store, notify=print_notice) as opened:
        runs, where = opened.runs.summaries(), opened.name
    chosen = _select_runs(runs, labels)
    if len(chosen) < FEWEST:
        raise Unusable(f"{where} has {format_count(len(chosen), 'such run')}; a trend needs {FEWEST} or more")
    means: list[RunMeans] = []
    treatments = None
    for at, run_summary in enumerate(chosen, 1):
        print_notice(f"reading run {at} of {len(chosen)}: {run_summary.name}")
        review, path, settings = judge_inputs(
            args.parse_inputs([f"{RUN}{run_summary.name}"], zone, store=store), ReviewSettings()
        )
        treatments = check_settings(
            settings.compare, path, review.question.signals
        )  # the review of the latest run is kept
        means.append(RunMeans.of(run_summary.name, review))
    assert treatments is not None
    result = find_trend(means, treatments)
    outputs.write(
        json=lambda: json_module.dumps(_build_trend_document(result), ensure_ascii=False, indent=2),
        junit=lambda: trend_report.format_junit(result),
        markdown=lambda: trend_report.format_markdown(result),
        lines=lambda: trend_report.format_lines(result),
    )


def _select_runs(runs: Sequence[RunSummary], labels: Mapping[str, str]) -> list[RunSummary]:
    """Return the complete runs that have all of these labels, the latest last."""
    alike = [run for run in runs if run.complete and labels.items() <= run.labels.items()]
    return sorted(alike, key=lambda run: (run.start, run.name))


def _parse_labels(like: Sequence[str]) -> dict[str, str]:
    """Return the labels in the texts of --like, by name. Raise Unusable if a text is not of the form NAME=VALUE."""
    labels: dict[str, str] = {}
    for text in like:
        key, equals, value = text.partition("=")
        if not equals or not key.strip():
            raise Unusable(f'{Parameter.LIKE} "{text}": write a label as NAME=VALUE')
        labels[key.strip()] = value.strip()
    return labels


def _build_trend_document(trend: HistoryTrend) -> dict[str, object]:
    """Return a trend as the JSON document that `plimsoll runs trend --json` writes."""
    return {
        "schema": "plimsoll.trend/1",
        "runs": [
            {"run": run.name, "start": None if run.start is None else format_iso(run.start)} for run in trend.runs
        ],
        "signals": len(trend.courses),
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
