"""`plimsoll runs trend`."""

import json as json_module
from collections.abc import Sequence
from dataclasses import replace

from plimsoll.api.inputs import RUN, Inputs
from plimsoll.api.run_review import Options, reviewed
from plimsoll.cli.commands.compare import Outputs
from plimsoll.cli.commands.judge import labels_of
from plimsoll.cli.console import print_lines, print_notice
from plimsoll.cli.open_store import open_store
from plimsoll.cli.outputs import STDOUT, refuse_overwriting, write_json, write_text
from plimsoll.comparison.treatments import checked
from plimsoll.comparison.trend import FEWEST, RunMeans, Trend, trend
from plimsoll.model.errors import Unusable
from plimsoll.model.remark import counted
from plimsoll.model.times import iso
from plimsoll.report.comparison.trend import junit, lines, markdown


def run(like: Sequence[str] | None, inputs: Inputs, outputs: Outputs) -> None:
    """Print where the levels of signals changed over the runs of a store, oldest first."""
    json, summary = outputs.json, outputs.markdown
    if outputs.junit == STDOUT:
        raise Unusable("--junit - is not supported: name a file, it is written as a whole or not at all")
    refuse_overwriting((), json, outputs.junit, summary)
    wanted = labels_of(like or ())
    with open_store(inputs.store) as store:
        runs, where = store.runs.summaries(), store.name
    chosen = [one for one in runs if one.complete and all(one.labels.get(key) == wanted[key] for key in wanted)]
    chosen.sort(key=lambda one: (one.start, one.name))
    if len(chosen) < FEWEST:
        raise Unusable(f"{where} has {counted(len(chosen), 'such run')}; a trend needs {FEWEST} or more")
    means: list[RunMeans] = []
    treatments = None
    for at, one in enumerate(chosen, 1):
        print_notice(f"reading run {at} of {len(chosen)}: {one.name}")
        review, path, given = reviewed(replace(inputs, sources=(f"{RUN}{one.name}",)), Options())
        treatments = checked(given.compare, path, review.question.signals)  # that of the latest run stays
        means.append(RunMeans.of(one.name, review))
    assert treatments is not None
    found = trend(means, treatments)
    if json is not None:
        write_json(json, json_module.dumps(_document(found), ensure_ascii=False, indent=2))
    if outputs.junit is not None:
        write_text(outputs.junit, junit(found))
    if summary == STDOUT:
        print_lines((line,) for line in markdown(found).splitlines())
    elif summary is not None:
        write_text(summary, markdown(found))
    if STDOUT not in (json, summary):
        print_lines(lines(found))


def _document(found: Trend) -> dict[str, object]:
    return {
        "schema": "plimsoll.trend/1",
        "runs": [{"run": one.name, "start": None if one.start is None else iso(one.start)} for one in found.runs],
        "signals": found.signals,
        "runs_needed": found.needed,
        "not_in_all_runs": [
            {"signal": name, "host": subject.host, "instance": subject.instance} for name, _, subject in found.partly
        ],
        "changes": [
            {
                "signal": one.name,
                "host": one.subject.host,
                "instance": one.subject.instance,
                "unit": one.signal.unit,
                "from_run": one.run.name,
                "before": one.point.before,
                "after": one.point.after,
                "interval": {"low": one.interval.low, "high": one.interval.high},
                "chance": one.point.chance,
                "worse": one.is_worse,
            }
            for one in found.changes
        ],
    }
