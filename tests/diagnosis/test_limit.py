"""What limits a run: found in simulated runs whose limit is known, and never claimed where it is not recorded."""

from collections import Counter
from dataclasses import replace

import pytest

from diagnosis.limit import what_limits
from hosts.facts import Facts, GivenFacts
from hosts.recorded_facts import recorded_facts
from model.run import Run
from review.findings import Question
from review.review import review
from rules.load import load_packs, load_signals
from tests.diagnosis import open_load, saturation

PACKS, SIGNALS = load_packs(), load_signals()
SEEDS = 17  # of each of the six kinds: a hundred runs


def limit_of(logs):
    facts = Facts(GivenFacts(), recorded_facts(logs))
    found = what_limits(review(logs, Run(), Question(PACKS, SIGNALS), facts))
    assert found is not None
    return found


def text_of(found):
    return " ".join(one.text for one in found.sentences)


@pytest.mark.parametrize("simulator", [saturation, open_load], ids=["closed loop", "open load"])
def test_the_limit_of_a_simulated_run_is_found(simulator):
    told, wrong, sure_and_wrong = Counter(), [], []
    for kind in simulator.KINDS:
        for seed in range(SEEDS):
            found = limit_of(simulator.simulate(simulator.planned(kind, seed)))
            told[found.kind == kind] += 1
            if found.kind not in (kind, "unknown"):
                wrong.append((kind, seed, found.kind))
                sure_and_wrong += [wrong[-1]] if found.confident else []
    assert told[True] >= 0.95 * told.total(), wrong
    assert not sure_and_wrong


def without(logs, objects):
    """The logs without the counters of some objects."""
    for log in logs:
        kept = [at for at, one in enumerate(log.series) if (one.tag("objectname") or one.measurement) not in objects]
        yield replace(log, columns=tuple(log.columns[at] for at in kept), series=tuple(log.series[at] for at in kept))


OF = {
    "cpu": ("Processor", "Processor Information", "System", "Process", "cpu", "system"),
    "disk": ("PhysicalDisk", "LogicalDisk", "diskio"),
    "memory": ("Memory", "mem", "kernel_vmstat", "SQLServer:Buffer Manager"),
    "network": ("Network Interface", "net"),
}


@pytest.mark.parametrize("kind", OF)
def test_what_is_not_recorded_is_named_and_nothing_else_is_blamed(kind):
    for seed in range(8):
        for simulator in (saturation, open_load):
            found = limit_of(list(without(simulator.simulate(simulator.planned(kind, seed)), OF[kind])))
            assert not found.confident, (seed, text_of(found))
            assert "not recorded" in text_of(found) or "not clear" in text_of(found)
