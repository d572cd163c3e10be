"""What-ifs, missing hosts and growth: exact where the demands are."""

from datetime import date

import numpy as np
import pytest

from plimsoll.hosts.facts import Facts
from plimsoll.insights.capacity.find import compute_capacity
from plimsoll.insights.capacity.forecast import Growth, forecast_growth
from plimsoll.insights.capacity.json import build_document
from plimsoll.insights.capacity.profiles.profile import Profile
from plimsoll.insights.capacity.what_if import Changes, parse_change
from plimsoll.insights.capacity.words import answer, describe_growth, list_sentences
from plimsoll.model.errors import Unusable
from plimsoll.model.file_models import parse_content
from plimsoll.model.run import Run
from plimsoll.review.findings import Question
from plimsoll.review.review import review
from plimsoll.rules.load import load, load_signals
from plimsoll.rules.subjects import Subject
from tests.simulated import a_log

CPU = r"\Processor(_Total)\% Processor Time"
REQUESTS = r"\Web Service(_Total)\Total Method Requests/sec"
TODAY = date(2026, 11, 24)


def farm(processors=4):
    """Two web servers that share the requests, and a database: 5 % idle; 0.2 % and 0.1 % for one request a second."""
    rng = np.random.default_rng(3)
    requests = np.repeat([50.0, 100, 150, 200, 250], 24) * (1 + 0.02 * rng.standard_normal(120))
    noise = rng.normal(0, 0.5, (3, 120))
    logs = [
        a_log({REQUESTS: requests / 2, CPU: 5 + 0.2 * requests / 2 + noise[0]}, "WEB01", 15),
        a_log({REQUESTS: requests / 2, CPU: 5 + 0.2 * requests / 2 + noise[1]}, "WEB02", 15),
        a_log({CPU: 5 + 0.24 * requests + noise[2]}, "SQL01", 15),
    ]
    facts = {Subject(host): {"processors": processors} for host in ("WEB01", "WEB02", "SQL01")}
    return review(logs, Run("farm", simulated=True), Question(load().packs, load_signals()), Facts(facts, {}))


def first_load(values, host):
    return next(resource.load.value for resource in values.resources if resource.resource.subject.host == host)


def test_twice_the_processors_carry_twice_the_load():
    before = compute_capacity([farm()])
    assert first_load(before, "SQL01") == pytest.approx((80 - 5) / 0.24, rel=0.03)
    after = compute_capacity([farm()], changes=Changes({"sql01": 8}))
    sql = next(resource for resource in after.resources if resource.resource.subject.host == "SQL01")
    assert sql.use.value == pytest.approx((5 + 0.24 * 250) / 2, rel=0.05)
    assert "With 8 processors of SQL01 instead of 4" in " ".join(list_sentences(after))
    fewer = compute_capacity([farm()], changes=Changes({"SQL01": 3}))
    assert first_load(fewer, "SQL01") == pytest.approx((80 * 3 / 4 - 5) / 0.24, rel=0.03)


def test_without_a_host_those_like_it_do_its_work():
    result = compute_capacity([farm()], changes=Changes(without=("WEB02",)))
    assert [resource.resource.subject.host for resource in result.resources].count("WEB02") == 0
    assert result.highest == pytest.approx(125, rel=0.03)  # WEB01 was not measured with more than half of 250
    web = next(resource for resource in result.resources if resource.resource.subject.host == "WEB01")
    assert web.use.value == pytest.approx(5 + 0.2 * 125, rel=0.05)
    assert "if WEB01 share its work evenly" in " ".join(list_sentences(result))
    with pytest.raises(Unusable, match="who does the work of SQL01"):
        compute_capacity([farm()], changes=Changes(without=("SQL01",)))


def test_growth_has_a_date_and_an_interval():
    profile = parse_content(Profile, {"title": "Clerks", "session": "60s", "operations": {"Web requests": 6}})
    result = compute_capacity([farm()], profile)
    assert answer(result).startswith("About 3,1")  # 313 requests a second, a tenth for each
    outcome = forecast_growth(result, Growth.parse("3%/month"), 2500, TODAY)
    assert outcome.day
    assert outcome.low
    assert outcome.high
    assert outcome.low <= outcome.day <= outcome.high
    assert outcome.day.strftime("%Y-%m") == "2027-07"  # ln(3125 / 2500) / ln(1.03) = 7.5 months
    assert "it is reached about July 2027" in describe_growth(outcome)
    assert forecast_growth(result, Growth.parse("10/year"), 2500, TODAY).day is None
    with pytest.raises(Unusable, match="at the limit already"):
        forecast_growth(result, Growth.parse("3%/month"), 4000, TODAY)
    with pytest.raises(Unusable, match="how much users do"):
        forecast_growth(compute_capacity([farm()]), Growth.parse("3%/month"), 2500, TODAY)


@pytest.mark.parametrize("typed", ["3", "-3%/month", "0%/month", "3%/fortnight"])
def test_what_is_no_growth(typed):
    with pytest.raises(Unusable, match="is no growth"):
        Growth.parse(typed)


@pytest.mark.parametrize("typed", ["SQL01", "SQL01.processors=0", "SQL01.memory=8"])
def test_what_is_no_change(typed):
    with pytest.raises(Unusable, match=r"write it like SQL01\.processors=8"):
        parse_change(typed)


def test_the_log_of_a_study_ends_where_its_table_does():
    """Site Server Membership Directory, two processors of 200 MHz: 130.55 /s at 77 %, 142.33 /s at 96 %."""
    searches = np.array([2.89, 6.01, 12.06, 24.18, 48.88, 96.95, 130.55, 142.33])
    busy = np.array([1.11, 1.86, 4.08, 11.08, 23.21, 49.72, 77.46, 95.98])
    rng = np.random.default_rng(5)
    rows = {r"\NTDS\LDAP Searches/sec": np.repeat(searches, 24), CPU: np.repeat(busy, 24) + rng.normal(0, 0.4, 192)}
    facts = {Subject("LDAP01"): {"processors": 2, "clock_mhz": 200}}
    question = Question(load().packs, load_signals())
    run = review([a_log(rows, "LDAP01", 15)], Run("study", simulated=True), question, Facts(facts, {}))
    result = compute_capacity([run])
    [limit] = result.reached
    assert 126.5 < limit.load.value < 135.5  # 80 %: 132 in its table
    assert limit.load.low < 132 < limit.load.high
    assert "reaches 80 %" in answer(result)
    assert "projected" not in answer(result)
    [demand] = build_document(result)["resources"][0]["demands"]
    assert 1.2 < demand["ppem"] < 2.7  # a search: 1.24 to 2.7 PPEM, more the higher the load
