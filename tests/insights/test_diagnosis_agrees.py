"""The bottleneck of a run contradicts no finding, and its figures are past their limits.

tests/demo/test_examples.py compares the bottlenecks of the examples with their findings.
"""

from dataclasses import replace
from pathlib import Path

import pytest

from plimsoll.hosts.facts import Facts, find_recorded_facts
from plimsoll.insights.insights import Insights
from plimsoll.model.run import Run
from plimsoll.report.json import ReviewDocument
from plimsoll.review.findings import Question
from plimsoll.review.review import review
from plimsoll.rules.load import load, load_signals
from tests.insights import saturation
from tests.insights.diagnosis import contradictions

PACKS, SIGNALS = load().packs, load_signals()


def told_of(logs):
    """The JSON of a review; its logs are of no file, so this one stands for them."""
    logs = [replace(log, file=Path(__file__)) for log in logs]
    facts = Facts({}, find_recorded_facts(logs))
    return ReviewDocument.model_validate(Insights(review(logs, Run(), Question(PACKS, SIGNALS), facts))).model_dump(
        mode="json"
    )


@pytest.mark.parametrize("kind", saturation.KINDS)
def test_a_diagnosis_of_simulated_runs_agrees_with_their_findings(kind):
    assert contradictions(told_of(saturation.simulate(saturation.planned(kind, 0)))) == []
