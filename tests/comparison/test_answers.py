"""What a comparison answers: worse, not worse, or not known."""

from pathlib import Path

import numpy as np
import pytest

from plimsoll.comparison.compare import Comparison, Side
from plimsoll.comparison.doubts import doubts
from plimsoll.comparison.story import Answer, answer, story
from plimsoll.comparison.treatments import checked
from plimsoll.hosts.settings import Settings
from plimsoll.insights.insights import Insights
from plimsoll.rules.load import load_signals
from tests.simulated import a_log, ar1, reviewed

ROWS = 720
CPU = r"\Processor(_Total)\% Processor Time"
REQUESTS = r"\Web Service(_Total)\Total Method Requests/sec"
CONNECTIONS = r"\Web Service(_Total)\Current Connections"
MEMORY = r"\Process(w3wp)\Private Bytes"
READ = r"\PhysicalDisk(0 C:)\Avg. Disk sec/Read"


def a_run(seed, changed=None, without=None):
    rng = np.random.default_rng(seed)

    def noisy(mean):
        return mean * (1 + ar1(rng, ROWS, deviation=0.05))

    columns = {CPU: noisy(50), REQUESTS: noisy(500), CONNECTIONS: noisy(200), MEMORY: noisy(8e8), READ: noisy(0.005)}
    columns |= {path: change(columns[path]) for path, change in (changed or {}).items()}
    return {path: values for path, values in columns.items() if path != without}


def compared(first, second):
    one, other = (Side(name, name, Insights(reviewed(a_log(run)))) for name, run in (("a", first), ("b", second)))
    return Comparison(one, other, checked(Settings().compare, Path("plimsoll.toml"), load_signals()))


@pytest.mark.parametrize(
    ("changed", "expected", "said"),
    [
        ({}, Answer.NOT_WORSE, "Nothing became worse or better."),
        ({CPU: lambda one: 1.15 * one}, Answer.WORSE, "b is worse than this run of a: processor time of SUT rose from"),
        ({REQUESTS: lambda one: 0.8 * one}, Answer.WORSE, "Apart from the throughput, nothing became worse"),
        (
            {MEMORY: lambda one: one + np.linspace(0, 2e9, ROWS)},
            Answer.UNKNOWN,
            "In b, and not in a, there is a trend",
        ),
        ({CPU: lambda one: np.where(np.arange(ROWS) > 600, 93, one)}, Answer.WORSE, "b is worse"),
    ],
    ids=["alike", "busier", "less throughput", "a leak", "a limit crossed at the end"],
)
def test_the_answer(changed, expected, said):
    found = compared(a_run(1), a_run(2, changed))
    assert (answer(found), doubts(found) if expected == Answer.NOT_WORSE else []) == (expected, [])
    assert said in " ".join(story(found))


def test_work_that_the_other_run_does_not_record_leaves_it_open():
    found = compared(a_run(1), a_run(2, without=REQUESTS))
    assert answer(found) == Answer.UNKNOWN
    assert doubts(found) == ["b does not record the work that was done: Web requests"]
