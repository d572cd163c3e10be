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
from plimsoll.store.protocol import Claim, RunSummary, State

_MOST_HOSTS = 2  # that a line names; runs show names all of them


app = args.command_app("List, show, judge and delete the runs in a store, and where they changed.")


@app.command("list", epilog=args.examples("plimsoll runs list", "plimsoll runs list --json -"))
def list_runs(store: args.StoreOption = None, json: args.JsonOption = None) -> None:
    """List the runs in a store, the latest first."""
    with open_store(store, notify=print_notice) as opened:
        runs, claims, where = opened.runs.summaries(), opened.runs.claims.current(LIFE_S), opened.name
    if json is not None:
        write_json(json, json_module.dumps([_as_json(one) for one in runs], ensure_ascii=False, indent=2))
    if json == STDOUT:
        return
    if not runs:
        print_line(f"{where} has no runs; plimsoll ingest LOG --run NAME loads one")
        return
    rows = [
        (
            one.name,
            iso(one.start)[:16].replace("T", " "),
            duration_text(one.end - one.start),
            listed(one.hosts, _MOST_HOSTS),
            ", ".join(f"{name}={value}" for name, value in one.labels.items()),
            _values(one, claims),
        )
        for one in runs
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
            "path": one.path,
            "sha256": one.sha256,
            "format": one.format,
            "zone": one.zone.name,
            "samples": len(one.times),
            "series": len(one.series),
            "values": sum(one.present),
        }
        for one in stored.recordings
    ]
    phases = [{"name": one.name, "start": iso(one.start), "end": iso(one.end)} for one in stored.run.phases]
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
        *(("phase", f"{one.name} {zone.span(one.start, one.end)}") for one in stored.run.phases),
        ("values", _values(summary, claims)),
    ]
    for label, text in facts:
        print_line(f"  {label:<9} {text}", indent=12)
    for one in stored.recordings:
        size = f"{counted(len(one.times), 'row')} × {counted(len(one.series), 'counter')}"
        print_line(f"  file      {one.path}: {one.format}, {size}", indent=12)
        print_line((f"            sha256 {one.sha256}", "dim"), indent=12)
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


def _values(one: RunSummary, claims: Sequence[Claim]) -> str:
    """How many values a run has, and what became of it if it does not have all of them."""
    work = next((claim for claim in claims if claim.run == one.name and claim.alive), None)
    if work:
        return f"{one.values:,}, {one.loaded:,} confirmed: {described(work, short=True)}"
    match one.state:
        case State.DELETING:
            return f"{one.values:,}, incomplete: a deletion was cut off; delete it again, or load it again"
        case State.LOADING:
            confirmed = f"{one.values:,}, {one.loaded:,} confirmed"
            return f"{confirmed}, incomplete: loading was cut off; load it again, or delete it"
        case State.COMPLETE:
            return f"{one.values:,}, {counted(one.refused, 'point')} refused" if one.refused else f"{one.values:,}"


def _as_json(one: RunSummary) -> dict[str, object]:
    return {
        "run": one.name,
        "start": iso(one.start),
        "end": iso(one.end),
        "hosts": list(one.hosts),
        "labels": dict(one.labels),
        "files": one.files,
        "values": one.values,
        "loaded": one.loaded,
        "refused": one.refused,
        "state": str(one.state),
        "complete": one.complete,
    }
