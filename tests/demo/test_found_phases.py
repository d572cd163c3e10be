import re
from pathlib import Path

from plimsoll.api.inputs import Inputs, read
from plimsoll.api.review import ReviewSettings, review_inputs
from plimsoll.demo.runs import write_runs
from plimsoll.hosts.settings import Settings
from plimsoll.report.wording import describe_phases
from plimsoll.review.review_logs import review_logs
from plimsoll.review.verdict import Verdict
from plimsoll.rules.load import load


def test_the_steady_state_of_the_demo_is_found_where_it_is_set(tmp_path: Path) -> None:
    for folder in write_runs(tmp_path):
        by_hand = {phase.name: phase for phase in review_inputs(Inputs((str(folder),)), ReviewSettings()).phases}
        settings = folder / "plimsoll.toml"
        settings.write_text(re.sub(r"\[\[run\.phases\]\]\n.*?\n\n", "", settings.read_text(), flags=re.DOTALL))
        review = review_inputs(Inputs((str(folder),)), ReviewSettings())
        assert review.phases_found, folder.name
        steady = next(phase for phase in review.phases if phase.name == "steady")
        assert abs(steady.start - by_hand["steady"].start) < 0.01 * (steady.end - steady.start), folder.name
        assert steady.end == review.end, folder.name


def test_the_demo_with_enough_memory_is_healthy_without_its_phases(tmp_path: Path) -> None:
    folder = next(write_run for write_run in write_runs(tmp_path) if write_run.name == "8GB")
    settings = folder / "plimsoll.toml"
    settings.write_text(re.sub(r"\[\[run\.phases\]\]\n.*?\n\n", "", settings.read_text(), flags=re.DOTALL))
    review = review_inputs(Inputs((str(folder),)), ReviewSettings())
    assert review.verdict == Verdict.HEALTHY
    assert review.before_steady
    whole = review_inputs(Inputs((str(folder),)), ReviewSettings(whole_run=True))
    assert {group.signal for group in whole.groups if group.severity != "info"} >= {
        finding.rule.signal for finding in review.before_steady
    }


def test_hosts_in_operation_have_no_phases(tmp_path: Path) -> None:
    folder = next(write_run for write_run in write_runs(tmp_path) if write_run.name == "8GB")
    content = read(Inputs((str(folder),)))
    in_test, live = (review_logs(content, load(), Settings(), None, in_operation=item) for item in (False, True))
    assert describe_phases(in_test, in_test.zone).startswith("Phases found from ")
    assert describe_phases(live, live.zone) == ""
