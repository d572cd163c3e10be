"""The HTML report says what was found, alone in one file, whatever the counters are called."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from model.log import Log
from model.names import shipped
from model.numbers import quantity
from model.perfmon import CounterPath
from model.remark import Kind, Remark
from model.run import Phase, Run
from model.times import SECOND, Zone
from review.facts import Facts, GivenFacts
from review.findings import Question
from review.html import render
from review.review import review
from review.verdict import tally
from rules.schema import Pack, Rule, Signal

START = 1_200_387_720 * SECOND  # 2008-01-15 10:02:00 in Berlin
INTERVAL_S = 5
HOSTILE = 'E:</script><img src="x" onerror="alert(1)">&"\''
BERLIN = Zone.parse("Europe/Berlin")

QUEUE = r"\PhysicalDisk({})\Avg. Disk Queue Length"
CPU = r"\Processor(_Total)\% Processor Time"
LIFE = r"\SQLServer:Buffer Manager\Page life expectancy"
MEMORY = r"\Memory\Available Bytes"


def a_signal(title, unit, path, **more):
    return Signal.model_validate({"title": title, "unit": unit, "meaning": "m", "sources": [path], **more})


SIGNALS = {
    "cpu.busy": a_signal("Processor time", "%", CPU),
    "disk.queue_length": a_signal("Disk queue length", "requests", QUEUE.format("*"), instances="each"),
    "sql.page_life_expectancy": a_signal("Page life expectancy", "s", LIFE, worse="lower"),
    "memory.available": a_signal("Available memory", "bytes", MEMORY, worse="lower"),
}


def a_rule(id_, signal, healthy, **more):
    citation = {"document": f"Document of {id_}", "place": "page 7", "quote": f"quoted for {id_}"}
    given = {"severity": "warning", "summary": f"Summary of {id_}.", "sources": [citation], "over": "1m", "for": "1m"}
    return Rule.model_validate({"id": id_, "signal": signal, "healthy": healthy, **given, **more})


def a_pack(*rules, objects=(), name="pack"):
    applies = {"applies_to": {"objects": list(objects)}} if objects else {}
    return Pack.model_validate(
        {"pack": name, "title": f"Title of {name}", "about": "a", "rules": list(rules), **applies}
    )


LIFE_RULE = a_rule("life", "sql.page_life_expectancy", "> 3600", severity="critical", look_at=["memory.available"])
PACK = a_pack(
    LIFE_RULE,
    a_rule("cpu", "cpu.busy", "< 80"),
    a_rule("queue", "disk.queue_length", "<= 3"),
    a_rule("memory", "memory.available", "> 4194304"),
)


def a_log(columns, *, host="SQL01", start=START, interval_s=INTERVAL_S, zone=BERLIN, remarks=()):
    """A log of counter paths and their values, NaN for no sample."""
    rows = len(next(iter(columns.values())))
    return Log(
        path=Path(f"/logs/{host}.csv"),
        format="pdh-csv",
        times=start + np.arange(rows, dtype=np.int64) * interval_s * SECOND,
        columns=tuple(pl.Series(values, dtype=pl.Float64).fill_nan(None) for values in columns.values()),
        series=tuple(shipped().series(CounterPath.parse(path), host) for path in columns),
        zone=zone,
        remarks=remarks,
    )


def a_review(*logs, packs=(PACK,), phases=(), run=None, signals=None):
    return review(logs, run or Run("a run"), Question(packs, signals or SIGNALS, phases), Facts(GivenFacts(), {}))


def level(value, rows=720, *, noise=0.02):
    return value * (1 + noise * np.sin(np.arange(rows) * 1.7))


def too_little_memory(rows=1800):
    """A run like the study's: page life expectancy never above 1,100 s once it is steady."""
    life = np.minimum(100 + 3.0 * np.arange(rows), 900 + 150 * np.sin(np.arange(rows) / 90))
    columns = {LIFE: life, CPU: level(31, rows), MEMORY: level(600e6, rows), QUEUE.format("0 C:"): level(0.4, rows)}
    phases = (
        Phase("ramp-up", START, START + 1200 * SECOND - 1),
        Phase("steady", START + 1200 * SECOND, START + rows * INTERVAL_S * SECOND),
    )
    return a_review(a_log(columns), phases=phases, run=Run("36 users/s", {"memory": "4GB"}, phases, simulated=True))


class Page(HTMLParser):
    """The page as a browser would take it apart: its elements, the words in it, and its scripts."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.words, self.scripts = [], [], []
        self._inside = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag in ("script", "style"):
            self._inside.append(tag)

    def handle_endtag(self, tag):
        if self._inside and self._inside[-1] == tag:
            self._inside.pop()

    def handle_data(self, data):
        (self.scripts if self._inside else self.words).append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.words).split())

    def all(self, tag, class_=""):
        return [attrs for name, attrs in self.elements if name == tag and class_ in (attrs.get("class") or "")]

    @property
    def data(self):
        return next(json.loads(text) for text in self.scripts if text.startswith('{"charts"'))


def page(*args, **kwargs):
    return Page(render(*args, **kwargs))


def test_verdict_and_every_fact_of_a_breach_are_said():
    found = too_little_memory()
    text = page(found).text
    crossed = found.findings[0]
    assert "Not healthy." in text
    assert found.headline.removeprefix("Not healthy. ") in text
    assert tally(found.findings) in text
    assert "simulated data" in text
    assert "Europe/Berlin, UTC+01:00" in text
    for fact in ("critical", "> 3,600 s", "threshold 3,600 s", quantity(crossed.worst, "s"), "10:02:00"):
        assert fact in text
    for source in ("Summary of life.", "Document of life, page 7", "quoted for life"):
        assert source in text


def test_every_breach_of_several_has_its_row():
    busy = np.full(1800, 20.0)
    busy[200:300], busy[900:1100] = 90, 97
    found = a_review(a_log({CPU: busy}))
    rows = re.findall(r"\d\d:\d\d:\d\d – \d\d:\d\d:\d\d", page(found).text)
    assert len(found.findings[1].breaches) == 0
    breaches = found.findings[0].breaches
    assert [f"{BERLIN.clock(b.start, date=False)} – {BERLIN.clock(b.end, date=False)}" for b in breaches] == rows


def test_times_are_in_the_zone_asked_for():
    assert "09:02:00" in page(too_little_memory(), Zone.parse("UTC")).text


def test_hostile_names_stay_text():
    logs = a_log({QUEUE.format(HOSTILE): level(50), LIFE: level(100)}, host="<b>host</b>")
    life = a_rule("life", "sql.page_life_expectancy", "> 3600", look_at=["disk.queue_length"])
    pack = a_pack(life, a_rule("queue", "disk.queue_length", "<= 3"))
    found = page(a_review(logs, packs=(pack,), run=Run("<em>run</em>", {"<u>": "<s>"})))
    assert not {tag for tag, _ in found.elements} & {"img", "em", "u", "s"}
    assert found.text.count(HOSTILE) > 3
    assert any(HOSTILE in line["label"] for chart in found.data["charts"] for line in chart["lines"])
    assert len(found.scripts) == 3, "the style, the data and the script: nothing ended them early"
    assert not [attrs for _, attrs in found.elements if any(name.startswith("on") for name in attrs)]


def test_nothing_is_loaded_from_anywhere():
    text = render(too_little_memory())
    found = Page(text)
    for _, attrs in found.elements:
        assert not set(attrs) & {"src", "srcset", "action", "data", "poster"}
        assert attrs.get("href", "#").startswith("#")
        assert "url(" not in (attrs.get("style") or "")
    assert not found.all("link")
    assert "@import" not in text
    assert "url(" not in text
    assert "http" not in re.sub(r"http://www.w3.org/\S+", "", text)


def test_every_link_leads_somewhere():
    found = page(too_little_memory())
    ids = {attrs["id"] for _, attrs in found.elements if "id" in attrs}
    assert {attrs["href"][1:] for attrs in found.all("a")} <= ids


def test_many_breaches_stay_small_and_none_is_lost():
    rows = 2000
    rng = np.random.default_rng(1)
    columns = {QUEUE.format(f"{n} Z:"): rng.uniform(4, 9 + n, rows) for n in range(128)}
    columns |= {rf"\Process(p{n})\Thread Count": np.full(rows, 9.0) for n in range(5000)}
    columns |= {CPU: rng.uniform(85, 100, rows), LIFE: rng.uniform(100, 900, rows)}
    found = a_review(a_log(columns))
    text = render(found)
    assert len(text.encode()) < 700_000
    shown = Page(text)
    assert len(shown.all("div", "chart full")) == 3
    assert len(shown.all("div", "chart small")) == 7
    assert "The worst 8 are drawn; 120 more in rows" in shown.text
    for n in range(128):
        assert f"SQL01, {n} Z:" in shown.text


@pytest.mark.parametrize(("hosts", "said"), [(60, "19 more like it"), (120, "2,399 more like it")])
def test_many_hosts_stay_small(hosts, said):
    rng = np.random.default_rng(2)
    disks = {QUEUE.format(f"{n}"): rng.uniform(0, 2, 200) for n in range(20)}
    text = render(a_review(*(a_log(disks | {CPU: level(90, 200)}, host=f"HOST{n}") for n in range(hosts))))
    assert len(text.encode()) < 700_000
    assert said in text


def test_many_rules_crossed_at_once_stay_small():
    rng = np.random.default_rng(3)
    signals, rules, columns = {}, [], {}
    for n in range(60):
        path = rf"\Object {n}(*)\Counter"
        signals[f"s.n{n}"] = a_signal(f"Signal {n}", "/s", path, instances="each")
        rules.append(a_rule(f"r{n}", f"s.n{n}", "< 1", look_at=[f"s.n{m}" for m in range(5)]))
        columns |= {path.replace("*", f"i{i}"): rng.uniform(2, 9, 3000) for i in range(9)}
    text = render(a_review(a_log(columns), packs=(a_pack(*rules),), signals=signals))
    assert len(text.encode()) < 900_000
    for n in range(60):
        assert f"Summary of r{n}." in text


def lines_of(text, kind="samples"):
    return re.findall(rf'<path class="line {kind}" d="([^"]*)"', text)


@pytest.mark.parametrize("rows", [600, 6000])
def test_gaps_are_not_bridged(rows):
    """One M for each stretch of samples, whether every sample is drawn or the line is thinned."""
    life = level(500, rows)
    life[rows // 3 : rows // 2] = np.nan
    life[rows - 100 : rows - 60] = np.nan
    text = render(a_review(a_log({LIFE: life}), packs=(a_pack(LIFE_RULE),)))
    assert lines_of(text)[0].count("M") == 3
    assert f"{rows // 2 - rows // 3 + 40:,} missing, 2 gaps" in text


def test_rows_that_are_not_there_are_a_gap_too():
    early, late = a_log({LIFE: level(500)}), a_log({LIFE: level(500)}, start=START + 7200 * SECOND)
    text = render(a_review(early, late, packs=(a_pack(LIFE_RULE),)))
    assert lines_of(text)[0].count("M") == 2


def test_a_sample_on_its_own_is_a_dot():
    life = np.full(300, np.nan)
    life[::2] = 500.0
    text = render(a_review(a_log({LIFE: life}), packs=(a_pack(LIFE_RULE),)))
    assert lines_of(text)[0].count("h0") == 150


def test_extremes_survive_thinning():
    life = np.full(50_000, 500.0)
    life[31_234] = 12_000.0
    found = page(a_review(a_log({LIFE: life}), packs=(a_pack(LIFE_RULE),)))
    highest = max(value or 0 for line in found.data["charts"][0]["lines"] for value in line.get("high", line["low"]))
    assert highest == 12_000
    assert "50,000 samples, drawn as minimum and maximum of each of 600 steps; none missing" in found.text


def test_no_data_is_never_shown_as_held():
    columns = {LIFE: np.full(300, np.nan), CPU: level(30, 300)}
    directory = a_pack(a_rule("ldap", "cpu.busy", "< 5"), objects=["NTDS"], name="directory")
    text = render(a_review(a_log(columns), packs=(PACK, directory)))
    held = text[text.index('id="held"') : text.index('id="statistics"')]
    assert "Processor time" in held
    for title in ("Page life expectancy", "Disk queue length", "Available memory"):
        assert title not in held
    rest = Page(text[text.index('id="unjudged"') :]).text
    assert re.search(r"No data 1: .* Page life expectancy SQL01", rest)
    assert re.search(r"Not recorded 2: .* Disk queue length SQL01", rest)
    assert re.search(r"Does not apply 1: .* Title of directory none of NTDS recorded", rest)


def test_nothing_judged_is_not_healthy():
    text = page(a_review(a_log({r"\Other\Counter": level(1)}))).text
    assert "Not known." in text
    assert "Healthy." not in text


def test_the_limit_of_the_rule_is_the_limit_of_the_report():
    log = a_log({CPU: level(60)})
    held = page(a_review(log, packs=(a_pack(a_rule("cpu", "cpu.busy", "< 80")),))).text
    assert "Healthy." in held
    assert "< 80 %" in held
    crossed = page(a_review(log, packs=(a_pack(a_rule("cpu", "cpu.busy", "< 55")),))).text
    assert "Not healthy." in crossed
    assert "threshold 55 %" in crossed
    assert "80 %" not in crossed


def test_water_rises_as_a_floor_is_neared():
    """The nearer the floor the fuller the gauge: rising water is always worse."""

    def surface(value):
        pack = a_pack(a_rule("memory", "memory.available", "> 1000"))
        text = render(a_review(a_log({MEMORY: level(value, noise=0)}), packs=(pack,)))
        return float(re.findall(r'class="water" d="M\S+ ([\d.]+)A', text)[0])

    assert surface(1100) < surface(2000) < surface(9000), "y counts downwards"
    assert surface(1100) > 12, "what held stays below the line"
    assert surface(900) < 12, "what crossed stands above it"


def test_signals_to_look_at_are_drawn_or_named():
    found = page(too_little_memory())
    assert len(found.all("div", "chart strip")) == 1
    assert "What to look at Available memory SQL01" in found.text
    rule = a_rule("life", "sql.page_life_expectancy", "> 3600", look_at=["memory.available"])
    assert (
        "Not recorded in these logs: Available memory."
        in page(a_review(a_log({LIFE: level(9)}), packs=(a_pack(rule),))).text
    )


def test_a_signal_of_another_kind_of_host_is_looked_at_there():
    """The database behind a front end counts; the memory of another host does not."""
    rule = a_rule("cpu", "cpu.busy", "< 80", look_at=["sql.page_life_expectancy", "memory.available"])
    front, back = a_log({CPU: level(95)}, host="FRONT"), a_log({LIFE: level(500), MEMORY: level(1e9)}, host="BACK")
    text = page(a_review(front, back, packs=(a_pack(rule),))).text
    assert "What to look at Page life expectancy BACK" in text
    assert "Not recorded in these logs: Available memory." in text


def test_figures_set_the_phases_against_each_other():
    text = page(too_little_memory()).text
    assert re.search(r"[\d,]+ / [\d,]+ s Page life expectancy of SQL01, mean in ramp-up / steady", text)
    assert re.search(r"\d+ / \d+ % Processor time of SQL01, mean in ramp-up / steady", text)


def test_statistics_are_told_by_phase():
    text = page(too_little_memory()).text
    assert re.search(r"whole run 2008-01-15 10:02:00–12:31:55", text)
    assert re.search(r"steady 2008-01-15 10:22:00–12:32:00", text)
    assert "Every counter's statistics are in the JSON" in text


def test_remarks_and_files_are_listed():
    remark = Remark(Kind.REPAIRED, "the last row was cut off", "/logs/SQL01.csv", line=12)
    text = page(a_review(a_log({CPU: level(5)}, remarks=(remark,)))).text
    assert "repaired /logs/SQL01.csv:12: the last row was cut off" in text
    assert "/logs/SQL01.csv pdh-csv SQL01" in text


def test_an_empty_log_is_reported_too():
    log = a_log({CPU: np.empty(0)})
    assert "Not known." in page(a_review(log)).text


def test_a_run_of_one_row_is_reported_too():
    assert "Processor time" in page(a_review(a_log({CPU: np.array([5.0])}))).text


def test_the_same_review_gives_the_same_bytes():
    assert render(too_little_memory()) == render(too_little_memory())
