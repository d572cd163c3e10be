"""The committed examples equal the generator's output, and a review finds exactly the expected crossings."""

import json
import re
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from plimsoll.api.inputs import Inputs
from plimsoll.api.review import ReviewSettings, review_inputs
from plimsoll.demo.examples import EXPECTED, HEALTHY, SITES, TROUBLE, write_examples
from plimsoll.demo.site import list_counters, load_site, simulate
from plimsoll.insights.insights import Insights
from plimsoll.model.times import format_iso
from plimsoll.report.json import ReviewDocument
from plimsoll.review.findings import Outcome
from plimsoll.review.review import Review
from tests.insights.diagnosis import contradictions

EXAMPLES = Path(__file__).parents[2] / "examples"
WITHIN = timedelta(seconds=60)
MOST_BYTES = 150_000
FEWEST_JUDGED = 12  # rules that each pair of logs is judged by, at least
SINGLE = pytest.mark.parametrize("system", SITES)


@cache
def reviewed(folder: Path) -> Review:
    return review_inputs(Inputs((str(folder),)), ReviewSettings())


def judged(review: Review) -> set[str]:
    return {finding.rule.id for finding in review.of(Outcome.CROSSED, Outcome.WITHIN)}


def test_rebuilding_gives_the_committed_bytes(tmp_path: Path) -> None:
    folders = write_examples(tmp_path)
    assert [folder.relative_to(tmp_path).as_posix() for folder in folders] == [
        f"{system}/{run}" for system in SITES for run in (HEALTHY, TROUBLE)
    ]
    written = {path.relative_to(tmp_path): path for path in tmp_path.rglob("*") if path.is_file()}
    committed = {path.relative_to(EXAMPLES) for path in EXAMPLES.glob("*/**/*") if path.is_file()}
    assert committed == set(written), "run: python -m plimsoll.demo.examples"
    for name, path in written.items():
        assert (EXAMPLES / name).read_bytes() == path.read_bytes(), f"{name}; run: python -m plimsoll.demo.examples"
        assert path.stat().st_size < MOST_BYTES, name


@SINGLE
def test_nothing_is_crossed_in_the_quiet_run(system: str) -> None:
    result = reviewed(EXAMPLES / system / HEALTHY)
    assert [finding.rule.id for finding in result.of(Outcome.CROSSED)] == []
    assert len(judged(result)) >= FEWEST_JUDGED, sorted(judged(result))
    assert result.run.simulated
    assert [str(remark) for remark in result.remarks] == []


@SINGLE
def test_exactly_what_was_put_in_is_found(system: str) -> None:
    folder = EXAMPLES / system / TROUBLE
    expected = json.loads((folder / EXPECTED).read_text(encoding="utf-8"))["crossed"]
    result = reviewed(folder)
    crossed = sorted(
        ((finding.rule.id, finding.subject.host, finding.subject.instance or ""), breach.start, breach.end)
        for finding in result.of(Outcome.CROSSED)
        for breach in finding.breaches
        if finding.subject
    )
    answer = sorted(
        ((load["rule"], load["host"], load["instance"] or ""), load["start"], load["end"]) for load in expected
    )
    assert [subject for subject, *_ in crossed] == [subject for subject, *_ in answer]
    for (subject, *times), (_, *stated) in zip(crossed, answer, strict=True):
        for at, outcome in zip(times, stated, strict=True):
            off = datetime.fromisoformat(format_iso(at)) - datetime.fromisoformat(outcome)
            assert abs(off) <= WITHIN, (subject, format_iso(at), outcome)
    assert judged(result) == judged(reviewed(EXAMPLES / system / HEALTHY)), "the two runs are judged by the same rules"


@SINGLE
def test_a_diagnosis_agrees_with_the_findings(system: str) -> None:
    for run in (HEALTHY, TROUBLE):
        model_dump = ReviewDocument.model_validate(Insights(reviewed(EXAMPLES / system / run))).model_dump(mode="json")
        assert contradictions(model_dump) == [], run


@SINGLE
def test_only_the_counters_in_trouble_differ(system: str) -> None:
    site = load_site(system)
    for host in site.hosts:
        quiet, trouble = (simulate(site, host, trouble=in_trouble) for in_trouble in (False, True))
        recorded = list_counters(site, host)
        changed = {path for path, counter in recorded.items() if counter.trouble is not None}
        changed |= {path for path, counter in recorded.items() if changed & {*counter.mean, *counter.sum}}
        differ = {path for path in quiet if not np.array_equal(quiet[path], trouble[path], equal_nan=True)}
        assert differ == changed, host


def test_the_commands_of_the_page(plimsoll, monkeypatch) -> None:
    monkeypatch.chdir(EXAMPLES.parent)
    page = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    calls = [call.split() for call in re.findall(r"`plimsoll review (examples/[^`]+)`", page)]
    folders = [folder for folder, *_ in calls]
    assert {folder for folder in folders if folder.endswith(TROUBLE)} == {
        f"examples/{system}/{TROUBLE}" for system in SITES
    }
    # What a review of each finds is tested above.
    for folder, *options in (calls[0], *(call for call in calls if len(call) > 1), calls[-1]):
        assert plimsoll("review", folder, *options, "--fail-on", "warning").status == (
            1 if folder.endswith(TROUBLE) else 0
        )
