import json
import re
from dataclasses import replace

import numpy as np

from plimsoll.insights.insights import Insights
from plimsoll.model.parameters import replace_marks_by_options
from plimsoll.report import terminal_summary as terminal
from plimsoll.report.html.render import render
from plimsoll.report.json import ReviewDocument
from plimsoll.report.wording import describe_phases
from tests.simulated import a_log, ar1, reviewed

BATCHES = "\\SQLServer:SQL Statistics\\Batch Requests/sec"
LIFE = "\\SQLServer:Buffer Manager\\Page life expectancy"
ROWS = 600


def outputs(tmp_path, shape):
    """The JSON, the terminal's text and the HTML of a run whose load has this shape."""
    path = tmp_path / "log.csv"
    path.touch()
    load = 500 * (shape + ar1(np.random.default_rng(9), ROWS, deviation=0.05))
    insights = Insights(reviewed(replace(a_log({BATCHES: load}), path=path)))
    text = "\n".join(
        "".join(part if isinstance(part, str) else part[0] for part in line) for line in terminal.format_lines(insights)
    )
    return json.loads(ReviewDocument.model_validate(insights).model_dump_json(by_alias=True)), text, render(insights)


def test_outputs_tell_which_phases_were_found_and_how_sure_that_is(tmp_path):
    written, text, page = outputs(tmp_path, np.minimum(1, np.linspace(0, 5, ROWS)))
    result = written["phases_found"]
    assert [(item["name"], item["by_hand"]) for item in written["phases"]] == [("ramp-up", False), ("steady", False)]
    assert (result["steady"], result["signal"], result["end"]) == (True, "sql.batch_requests", None)
    assert (
        result["begin"]["earliest"]
        <= result["begin"]["at"]
        == written["phases"][1]["start"]
        <= result["begin"]["latest"]
    )
    assert 0.5 < result["confidence"] <= 1
    assert {item["phase"] for item in written["statistics"]} == {"whole run", "ramp-up", "steady"}
    assert result["sentence"] in text
    assert result["sentence"] in page
    assert '"unsure":[[' in page


def reported(noise, **options):
    """What the first screen tells of the phases of a run with such a noise, and a page life that holds."""
    load = 500 * (np.minimum(1, np.linspace(0, 5, ROWS)) + ar1(np.random.default_rng(9), ROWS, deviation=noise))
    review = reviewed(a_log({BATCHES: load, LIFE: np.full(ROWS, 9000.0)}), **options)
    assert review.phases_found
    return replace_marks_by_options(describe_phases(review, review.zone)), review.phases_found


def test_the_first_screen_says_which_phases_rules_were_judged_by():
    used, found_phases = reported(noise=0.01)
    assert (found_phases.confidence or 0) >= 0.95
    assert "Rules for the steady state were judged from " in used
    assert "--whole-run" in used
    assert reported(noise=0.01, whole_run=True)[0].endswith("were judged throughout the run, as asked.")
    unsure, found_phases = reported(noise=0.05)
    assert found_phases.steady
    begin = found_phases.steady.start // 10**9 % 86400
    typed = re.search(r"--steady (\d\d):(\d\d):(\d\d)/", unsure)
    assert typed
    assert begin == int(typed[1]) * 3600 + int(typed[2]) * 60 + int(typed[3])


def test_outputs_tell_why_no_steady_state_was_found(tmp_path):
    written, text, page = outputs(tmp_path, np.linspace(0.1, 1, ROWS))
    result = written["phases_found"]
    assert (written["phases"], result["steady"], result["confidence"]) == ([], False, None)
    assert result["sentence"].startswith("No steady state was found: the load ")
    assert result["sentence"] in text
    assert result["sentence"] in page
