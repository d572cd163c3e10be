"""Remarks on hosts and instances in plimsoll.toml that were not recorded, and on hosts that an agent polls."""

import json
from pathlib import Path

import numpy as np
import pytest

from plimsoll.hosts.facts import Facts, find_recorded_facts
from plimsoll.hosts.settings import Settings
from plimsoll.insights.insights import Insights
from plimsoll.model.file_models import parse_content
from plimsoll.model.log import Log
from plimsoll.model.run import Run
from plimsoll.model.series import Series
from plimsoll.model.times import SECOND, Zone
from plimsoll.report.html.render import render
from plimsoll.report.json import ReviewDocument
from plimsoll.review.findings import Question
from plimsoll.review.review import review
from plimsoll.rules.load import load, load_signals

RULES = load().rules
LONG_QUEUE = 7.0


def queue(computer, instance, agent=None):
    tags = (("instance", instance), ("objectname", "PhysicalDisk"), ("source", computer))
    path = rf"\PhysicalDisk({instance})\Avg. Disk Queue Length"
    return Series(agent or computer, "win_diskio", tags, "Avg._Disk_Queue_Length", path)


def a_review(settings, *series):
    times = np.arange(60, dtype=np.int64) * 10 * SECOND
    columns = tuple(np.full(60, LONG_QUEUE) for _ in series)
    log = Log(Path("log.csv"), "Telegraf", times, columns, series, Zone.parse("UTC"), sha256="")
    model_validate = parse_content(Settings, settings)
    overrides = model_validate.overrides(Path("plimsoll.toml"), RULES, load_signals())
    question = Question(load().packs, load_signals(), overrides=overrides, drives=model_validate.drives())
    return review([log], Run(), question, Facts(model_validate.facts(), find_recorded_facts([log])))


def output(settings, *series):
    return [remark.text for remark in a_review(settings, *series).remarks]


def limits(values):
    return {
        (finding.subject.host, finding.subject.instance): finding.track.healthy.limit
        for finding in values.findings
        if finding.rule.id == "disk-queue-per-spindle" and finding.subject and finding.track
    }


def test_a_mistyped_host_is_remarked_on_with_the_nearest_name():
    (text,) = output({"hosts": {"SQLSVR01": {"spindles": 4}}}, queue("SQLSRV01", "0 C:"))
    assert 'the host "SQLSVR01", which is not in these logs (did you mean "SQLSRV01"?)' in text


def test_a_host_written_with_its_domain_is_near():
    (text,) = output({"hosts": {"db.corp.example.org": {"spindles": 4}}}, queue("DB", "0 C:"))
    assert 'did you mean "DB"?' in text


def test_hosts_of_other_logs_make_one_remark_and_are_not_taken_for_mistyped():
    hosts = {"WEB01": {"spindles": 4}, "WEB02": {"spindles": 4}, "DIRECTORY": {"spindles": 2}}
    (text,) = output({"hosts": hosts}, queue("WEB01", "0 C:"))
    assert "hosts that are not in these logs" in text
    assert text.endswith("WEB02, DIRECTORY; these logs are of WEB01")


def test_a_mistyped_instance_is_remarked_on():
    """LogicalDisk calls it `C:`, the limit is of PhysicalDisk's `0 C:`: it would stay unscaled."""
    settings = {"hosts": {"web01": {"instances": {"C:": {"spindles": 4}}}}}
    result = a_review(settings, queue("WEB01", "0 C:"), queue("WEB01", "1 D:"))
    (remark,) = result.remarks
    assert 'the instance "C:" of web01' in remark.text
    assert 'did you mean "0 C:"?' in remark.text
    assert set(limits(result).values()) == {3}
    assert (
        remark.text
        in json.loads(ReviewDocument.model_validate(Insights(result)).model_dump_json())["remarks"][0]["text"]
    )
    assert "the instance" in render(Insights(result))


def test_an_instance_unlike_any_is_told_which_there_are():
    settings = {"hosts": {"WEB01": {"instances": {"database": {"drive": "database"}}}}}
    (text,) = output(settings, queue("WEB01", "0 C:"))
    assert 'recorded: "0 C:"' in text


def test_a_threshold_set_for_a_host_without_its_counters_is_remarked_on():
    fields = {"sql-page-life-expectancy": {"healthy": "> 300 s", "reason": "small"}}
    (text,) = output({"hosts": {"WEB01": {"rules": fields}}}, queue("WEB01", "0 C:"))
    assert "a threshold for WEB01 whose counters were not recorded there: sql-page-life-expectancy" in text


@pytest.mark.parametrize("host", ["WEB01", "web01"])
def test_what_matches_is_not_remarked_on(host):
    fields = {"disk-queue-per-spindle": {"for": "2m", "reason": "x"}}
    facts = {"spindles": 4, "instances": {"0 c:": {"spindles": 2, "drive": "log"}}, "rules": fields}
    result = a_review({"hosts": {host: facts}}, queue("WEB01", "0 C:"), queue("WEB01", "1 D:"))
    assert result.remarks == ()
    assert limits(result) == {("WEB01", "0 C:"): 6, ("WEB01", "1 D:"): 12}


def test_facts_of_a_computer_that_an_agent_polls_are_its_own():
    series = [queue("DISKS1", "0 C:", agent="AGENT"), queue("DISKS2", "0 C:", agent="AGENT")]
    result = a_review({"hosts": {"DISKS2": {"spindles": 4}}}, *series)
    assert result.remarks == ()
    assert result.hosts == ("DISKS1", "DISKS2")
    assert limits(result) == {("DISKS1", "0 C:"): 3, ("DISKS2", "0 C:"): 12}
    assert {statistic.host for statistic in ReviewDocument.model_validate(Insights(result)).statistics} == {
        "DISKS1",
        "DISKS2",
    }


def test_a_database_server_that_was_watched_from_afar_is_judged():
    tags = (("counter", "Page life expectancy"), ("object", "SQLServer:Buffer Manager"), ("sql_instance", "DB1"))
    result = a_review({}, Series("AGENT", "sqlserver_performance", tags, "value"))
    (finding,) = (item for item in result.findings if item.rule.id == "sql-page-life-expectancy")
    assert (finding.subject and finding.subject.host, finding.track is not None) == ("DB1", True)
