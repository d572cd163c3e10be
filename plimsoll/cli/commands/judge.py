"""`plimsoll runs judge`."""

from collections.abc import Mapping, Sequence

from plimsoll.api.inputs import RUN, Inputs
from plimsoll.api.run_comparison import How
from plimsoll.api.run_review import Options
from plimsoll.cli.commands import compare
from plimsoll.cli.commands.compare import Outputs
from plimsoll.cli.console import print_notice
from plimsoll.cli.open_store import open_store
from plimsoll.model.errors import Unusable
from plimsoll.model.parameters import Parameter
from plimsoll.model.remark import counted, listed
from plimsoll.store.protocol import RunSummary

FEW = 5  # runs of a baseline; with fewer, how much runs differ is hardly known from them


def run(name: str, like: Sequence[str] | None, most: int, inputs: Inputs, outputs: Outputs) -> int:
    """Compare a run with the runs before it that are alike; returns the exit status."""
    with open_store(inputs.store) as store:
        runs, where = store.runs.summaries(), store.name
    new = next((one for one in runs if one.name == name), None)
    if new is None:
        raise Unusable(f'run "{name}" is not in {where}; plimsoll runs list tells which are')
    wanted = new.labels if like is None else labels_of(like)
    before = earlier_runs(runs, new, wanted)[-most:]
    if not before:
        labels = listed([f"{key}={value}" for key, value in wanted.items()], 6) or "no label"
        raise Unusable(f'{where} has no complete run before "{name}" with {labels}; {Parameter.LIKE} says which count')
    if len(before) < FEW:
        print_notice(f"only {counted(len(before), 'earlier run')}; {FEW} to 10 show by how much runs differ")
    sources = tuple(f"{RUN}{one.name}" for one in (*before, new))
    asked = Inputs(sources, inputs.zone, store=inputs.store, notify=inputs.notify)
    return compare.run(asked, Options(), How(baselines=len(before)), outputs)


def earlier_runs(runs: Sequence[RunSummary], new: RunSummary, wanted: Mapping[str, str]) -> list[RunSummary]:
    """The complete runs with these labels that began before another, the latest last."""
    found = [
        one
        for one in runs
        if one.complete and one.start < new.start and all(one.labels.get(key) == wanted[key] for key in wanted)
    ]
    return sorted(found, key=lambda one: (one.start, one.name))


def labels_of(like: Sequence[str]) -> dict[str, str]:
    """The labels that --like names. Unusable if one is not written as NAME=VALUE."""
    found: dict[str, str] = {}
    for text in like:
        key, equals, value = text.partition("=")
        if not equals or not key.strip():
            raise Unusable(f'{Parameter.LIKE} "{text}": write a label as NAME=VALUE')
        found[key.strip()] = value.strip()
    return found
