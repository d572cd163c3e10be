"""`plimsoll runs`."""

import json as json_module
from collections.abc import Sequence

import typer

from plimsoll.api.open_store import open_store
from plimsoll.cli import args
from plimsoll.cli.commands.run_history import RunArgument, judge, trend
from plimsoll.cli.console import print_line, print_notice, print_table
from plimsoll.cli.outputs import STDOUT, write_json
from plimsoll.ingest.runs.load import find, unload
from plimsoll.ingest.runs.read_run import nothing_known
from plimsoll.model.errors import Unusable
from plimsoll.model.remark import counted, listed
from plimsoll.model.times import duration_text, iso
from plimsoll.store.lease import LIFE_S, described
from plimsoll.store.protocol import Claim, RunSummary, StoreState

_MOST_HOSTS = 2  # that a line names; runs show names all of them


app = args.command_app("List, show, judge and delete the runs in a store, and where they changed.")


@app.command("list", epilog=args.examples("plimsoll runs list", "plimsoll runs list --json -"))
def list_runs(store: args.StoreOption = None, json: args.JsonOption = None) -> None:
    """List the runs in a store, the latest first."""
    with open_store(store, notify=print_notice) as opened:
        runs, claims, where = opened.runs.summaries(), opened.runs.claims.current(LIFE_S), opened.name
    if json is not None:
        write_json(json, json_module.dumps([_as_json(run) for run in runs], ensure_ascii=False, indent=2))
    if json == STDOUT:
        return
    if not runs:
        print_line(f"{where} has no runs; plimsoll ingest LOG --run NAME loads one")
        return
    rows = [
        (
            run.name,
            iso(run.start)[:16].replace("T", " "),
            duration_text(run.end - run.start),
            listed(run.hosts, _MOST_HOSTS),
            ", ".join(f"{name}={value}" for name, value in run.labels.items()),
            _values(run, claims),
        )
        for run in runs
    ]
    print_table(("run", "from (UTC)", "lasted", "hosts", "labels", "values"), rows)


@app.command("show", epilog=args.examples("plimsoll runs show nightly-42"))
def show(run: RunArgument, store: args.StoreOption = None, json: args.JsonOption = None) -> None:
    """Show what is known about a run: span, hosts, labels, phases, files."""
    with open_store(store, notify=print_notice) as opened:
        stored, summary = opened.runs.get(run), find(opened.runs, run)
        claims, where = opened.runs.claims.current(LIFE_S), opened.name
    if summary is None:
        raise Unusable(f'run "{run}" is not in {where}; plimsoll runs list tells which are')
    if stored is None:
        raise Unusable(f"{where}: {nothing_known(run)}")
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
    phases = [{"name": phase.name, "start": iso(phase.start), "end": iso(phase.end)} for phase in stored.run.phases]
    if json is not None:
        document = {**_as_json(summary), "simulated": stored.run.simulated, "phases": phases, "files": files}
        write_json(json, json_module.dumps(document, ensure_ascii=False, indent=2))
    if json == STDOUT:
        return
    zone = stored.recordings[0].zone
    print_line((run, "bold"), " (simulated)" if stored.run.simulated else "")
    facts = [
        (
            "span",
            f"{zone.span(stored.start, stored.end)} {zone.label(stored.start)}, "
            f"{duration_text(stored.end - stored.start)}",
        ),
        ("hosts", ", ".join(stored.hosts)),
        ("labels", ", ".join(f"{key}={value}" for key, value in stored.run.labels.items()) or "none"),
        *(("phase", f"{phase.name} {zone.span(phase.start, phase.end)}") for phase in stored.run.phases),
        ("values", _values(summary, claims)),
    ]
    for label, text in facts:
        print_line(f"  {label:<9} {text}", indent=12)
    for recording in stored.recordings:
        size = f"{counted(len(recording.times), 'row')} × {counted(len(recording.series), 'counter')}"
        print_line(f"  file      {recording.path}: {recording.format}, {size}", indent=12)
        print_line((f"            sha256 {recording.sha256}", "dim"), indent=12)
    for remark in stored.remarks:
        print_line((f"  {remark}", "dim"), indent=4)


@app.command("delete", epilog=args.examples("plimsoll runs delete nightly-42"))
def delete(
    run: RunArgument,
    store: args.StoreOption = None,
    force: bool = typer.Option(
        False, "--force", help="Also if another command loads or deletes the run: that one then stops."
    ),
) -> None:
    """Delete a run and its values, except those that another run holds, too."""
    with open_store(store, notify=print_notice) as opened:
        unload(opened.runs, run, force=force, notify=print_notice)
        where = opened.name
    print_line(f'Run "{run}" is no longer in {where}, nor are its values')


app.command("judge", epilog=args.examples("plimsoll runs judge nightly-42 --fail-on regression"))(judge)
app.command(
    "trend", epilog=args.examples("plimsoll runs trend", "plimsoll runs trend --like test=nightly --markdown -")
)(trend)


def _values(run_summary: RunSummary, claims: Sequence[Claim]) -> str:
    """Return how many values a run has, and what became of it if it does not have all of them."""
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
            return (
                f"{run_summary.values:,}, {counted(run_summary.refused, 'point')} refused"
                if run_summary.refused
                else f"{run_summary.values:,}"
            )


def _as_json(run_summary: RunSummary) -> dict[str, object]:
    return {
        "run": run_summary.name,
        "start": iso(run_summary.start),
        "end": iso(run_summary.end),
        "hosts": list(run_summary.hosts),
        "labels": dict(run_summary.labels),
        "files": run_summary.files,
        "values": run_summary.values,
        "loaded": run_summary.loaded,
        "refused": run_summary.refused,
        "state": str(run_summary.state),
        "complete": run_summary.complete,
    }
