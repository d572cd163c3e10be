"""The HTML report says what was found, alone in one file, whatever the counters are called."""

import itertools
import json
import re
from base64 import b64decode
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np

from plimsoll.hosts.facts import Facts
from plimsoll.insights.insights import Insights
from plimsoll.model.file_models import parse_content
from plimsoll.model.run import Phase, Run
from plimsoll.model.times import SECOND, Zone
from plimsoll.model.value_text import format_value
from plimsoll.report.html.render import render
from plimsoll.report.wording import summarize_crossed
from plimsoll.review.findings import Outcome, Question
from plimsoll.review.review import review
from plimsoll.rules.schema.pack import Pack, Rule
from plimsoll.rules.schema.signal import Signal
from tests import simulated

START = 1_200_387_720 * SECOND  # 2008-01-15 10:02:00 in Berlin
HOSTILE = 'E:</script><img src="x" onerror="alert(1)">&"\''
BERLIN = Zone.parse("Europe/Berlin")

QUEUE = r"\PhysicalDisk({})\Avg. Disk Queue Length"
CPU = r"\Processor(_Total)\% Processor Time"
LIFE = r"\SQLServer:Buffer Manager\Page life expectancy"
MEMORY = r"\Memory\Available Bytes"


def a_signal(title, unit, path, **more):
    return parse_content(Signal, {"title": title, "unit": unit, "meaning": "m", "sources": [path], **more})


SIGNALS = {
    "cpu.busy": a_signal("Processor time", "%", CPU),
    "disk.queue_length": a_signal("Disk queue length", "requests", QUEUE.format("*"), instances="each"),
    "sql.page_life_expectancy": a_signal("Page life expectancy", "s", LIFE, worse="lower"),
    "memory.available": a_signal("Available memory", "bytes", MEMORY, worse="lower"),
}


def a_rule(id_, signal, healthy, **more):
    citation = {"document": f"Document of {id_}", "place": "page 7", "quote": f"quoted for {id_}"}
    given = {"severity": "warning", "summary": f"Summary of {id_}.", "sources": [citation], "over": "1m", "for": "1m"}
    return parse_content(Rule, {"id": id_, "signal": signal, "healthy": healthy, **given, **more})


def a_pack(*rules, objects=(), name="pack"):
    applies = {"applies_to": {"objects": list(objects)}} if objects else {}
    return parse_content(
        Pack, {"pack": name, "title": f"Title of {name}", "about": "a", "rules": list(rules), **applies}
    )


LIFE_RULE = a_rule("life", "sql.page_life_expectancy", "> 3600", severity="critical", look_at=["memory.available"])
PACK = a_pack(
    LIFE_RULE,
    a_rule("cpu", "cpu.busy", "< 80"),
    a_rule("queue", "disk.queue_length", "<= 3"),
    a_rule("memory", "memory.available", "> 4194304"),
)


def a_log(columns, host="SQL01", start=START, **how):
    """A log in the zone of Berlin."""
    return replace(simulated.a_log(columns, host, start=start, **how), zone=BERLIN)


def a_review(*logs, packs=(PACK,), phases=(), run=None, signals=None):
    return review(logs, run or Run("a run"), Question(packs, signals or SIGNALS, phases), Facts({}, {}))


def level(value, rows=720, *, noise=0.02):
    return value * (1 + noise * np.sin(np.arange(rows) * 1.7))


def too_little_memory(rows=1800):
    """A run like the study's: page life expectancy never above 1,100 s once it is steady."""
    life = np.minimum(100 + 3.0 * np.arange(rows), 900 + 150 * np.sin(np.arange(rows) / 90))
    columns = {LIFE: life, CPU: level(31, rows), MEMORY: level(600e6, rows), QUEUE.format("0 C:"): level(0.4, rows)}
    phases = (
        Phase("ramp-up", START, START + 1200 * SECOND - 1),
        Phase("steady", START + 1200 * SECOND, START + rows * 5 * SECOND),
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
        return next(json.loads(text) for text in self.scripts if text.startswith(('{"start"', "{}")))

    def lines(self, chart):
        """The lines of a chart as the browser decodes them: label, kind, times (ms since the start) and values."""
        for number, label, kind in self.data["charts"][chart]["lines"]:
            stored = self.data["samples"][number]
            times = stored if "axis" not in stored else self.data["axes"][stored["axis"]]
            if "every" in times:
                ms = times["from"] + np.arange(times["rows"]) * times["every"]
            else:
                ms = np.frombuffer(b64decode(times["ms"]), "<u4")
            if "all" in stored:
                yield label, kind, ms, np.full(len(ms), stored["all"])
            else:
                wide = "wide" in stored
                yield (
                    label,
                    kind,
                    ms,
                    np.frombuffer(b64decode(stored["wide" if wide else "values"]), "<f8" if wide else "<f4"),
                )

    def samples(self, chart=0):
        """The times and values of the line that shows samples."""
        return next((ms, values) for _, kind, ms, values in self.lines(chart) if kind == "samples")


NOW = 1_770_000_000 * SECOND


def page(found, zone=None):
    return Page(render(Insights(found), zone, NOW))


def test_verdict_and_every_fact_of_a_breach_are_said():
    found = too_little_memory()
    text = page(found).text
    crossed = found.findings[0]
    assert "Not healthy." in text
    assert found.headline.removeprefix("Not healthy. ") in text
    assert summarize_crossed(found.findings) in text
    assert "simulated data" in text
    assert "Europe/Berlin, UTC+01:00" in text
    for fact in ("critical", "> 3,600 s", format_value(crossed.worst, "s"), "10:02:00"):
        assert fact in text
    for source in ("Summary of life.", "Document of life, page 7", "quoted for life"):
        assert source in text


def test_times_are_in_the_zone_asked_for():
    assert "09:02:00" in page(too_little_memory(), Zone.parse("UTC")).text


def test_hostile_names_stay_text():
    logs = a_log({QUEUE.format(HOSTILE): level(50), LIFE: level(100)}, host="<b>host</b>")
    life = a_rule("life", "sql.page_life_expectancy", "> 3600", look_at=["disk.queue_length"])
    pack = a_pack(life, a_rule("queue", "disk.queue_length", "<= 3"))
    found = page(a_review(logs, packs=(pack,), run=Run("<em>run</em>", {"<u>": "<s>"})))
    assert not {tag for tag, _ in found.elements} & {"img", "em", "u", "s"}
    assert found.text.count(HOSTILE) > 3
    assert any(HOSTILE in label for chart in found.data["charts"] for _, label, _ in chart["lines"])
    assert len(found.scripts) == 3, "the style, the data and the script: nothing ended them early"
    assert not [attrs for _, attrs in found.elements if any(name.startswith("on") for name in attrs)]


def test_nothing_is_loaded_from_anywhere():
    text = render(Insights(too_little_memory()))
    found = Page(text)
    for _, attrs in found.elements:
        assert not set(attrs) & {"src", "srcset", "action", "data", "poster"}
        assert attrs.get("href", "#").startswith("#")
        assert "url(" not in (attrs.get("style") or "")
    assert not found.all("link")
    assert "@import" not in text
    assert "url(" not in text
    (policy,) = [attrs["content"] for attrs in found.all("meta") if "http-equiv" in attrs]
    assert "default-src 'none'" in policy
    assert "eval" not in policy


def test_every_link_leads_somewhere():
    found = page(too_little_memory())
    ids = {attrs["id"] for _, attrs in found.elements if "id" in attrs}
    assert {attrs["href"][1:] for attrs in found.all("a")} <= ids


def test_no_level_of_headings_is_left_out():
    """Not below folded sections either, which a screen reader opens."""
    for reviewed in (too_little_memory(), a_review(a_log({r"\Other\Counter": level(1)}))):
        levels = [int(tag[1]) for tag, _ in page(reviewed).elements if tag in ("h1", "h2", "h3", "h4")]
        assert levels[0] == 1
        assert all(below <= above + 1 for above, below in itertools.pairwise(levels))


def test_many_breaches_stay_small_and_none_is_lost():
    rows = 2000
    rng = np.random.default_rng(1)
    columns = {QUEUE.format(f"{n} Z:"): rng.uniform(4, 9 + n, rows) for n in range(128)}
    columns |= {rf"\Process(p{n})\Thread Count": np.full(rows, 9.0) for n in range(5000)}
    columns |= {CPU: rng.uniform(85, 100, rows), LIFE: rng.uniform(100, 900, rows)}
    text = render(Insights(a_review(a_log(columns))))
    assert len(text.encode()) < 1_500_000
    shown = Page(text)
    assert len(shown.all("div", "chart full")) == 3
    assert len(shown.all("div", "chart small")) == 7
    assert "Disk queue length 128 instances on SQL01, worst" in shown.text
    assert "The worst 8 are drawn; 120 more in rows" in shown.text
    for n in range(128):
        assert f"SQL01, {n} Z:" in shown.text


def test_whatever_the_log_the_report_stays_below_eight_megabytes():
    """Eighty signals of eight instances: the worst to the sample, the others by their extremes, as the captions say."""
    rng = np.random.default_rng(2)
    signals, rules, columns = {}, [], {}
    for n in range(80):
        path = rf"\Object {n}(*)\Counter"
        signals[f"s.n{n}"] = a_signal(f"Signal {n}", "/s", path, instances="each")
        rules.append(a_rule(f"r{n}", f"s.n{n}", "< 2"))
        columns |= {path.replace("*", f"i{i}"): rng.uniform(0, 1, 6000) for i in range(8)}
    found = a_review(a_log(columns), packs=(a_pack(*rules),), signals=signals)
    text = render(Insights(found))
    assert 3_000_000 < len(text.encode()) < 8_000_000
    shown = Page(text)
    assert len(shown.data["charts"]) == 80
    for chart, finding in ((number, shown.data["charts"][number]) for number in (0, 40, 79)):
        assert len(list(shown.lines(chart))) == 8, finding
    assert len(shown.samples(0)[1]) == 6000
    assert 200 < len(shown.samples(79)[1]) < 300
    assert "kept as minimum and maximum of each of 120 steps so that this file stays small" in shown.text


def test_a_short_log_is_in_the_report_to_the_sample():
    life = np.minimum(100 + 3.0 * np.arange(1800), 900)
    ms, values = page(a_review(a_log({LIFE: life}))).samples()
    assert ms.tolist() == [5000 * n for n in range(1800)]
    assert values.tolist() == life.tolist()


def gaps_of(values):
    """How many stretches of values there are beyond the first."""
    there = np.isfinite(values)
    return int(np.count_nonzero(there[1:] & ~there[:-1]) - (not there[0]))


def test_gaps_are_not_bridged():
    life = level(500, 600)
    life[200:300] = life[500:540] = np.nan
    found = page(a_review(a_log({LIFE: life}), packs=(a_pack(LIFE_RULE),)))
    assert gaps_of(found.samples()[1]) == 2
    assert "460 samples, 140 missing, 2 gaps" in found.text


def test_a_line_that_is_thinned_keeps_its_extremes_and_its_gaps():
    life = np.full(900_000, 500.0)
    life[312_345], life[500_000:600_000] = 12_000.0, np.nan
    life[::7] += 0.25
    found = page(a_review(a_log({LIFE: life}, interval_s=1), packs=(a_pack(LIFE_RULE),)))
    ms, values = found.samples()
    assert len(values) < 3000
    assert np.nanmax(values) == 12_000
    assert ms[np.nanargmax(values)] == 312_345 * 1000
    assert gaps_of(values) == 1
    assert "800,000 samples, kept as minimum and maximum of each of 600 steps" in found.text


def test_findings_of_one_signal_are_one_section():
    """Two rules on one signal, on two hosts: one section, with each rule's own words and limit."""
    pack = a_pack(
        LIFE_RULE, a_rule("life-long", "sql.page_life_expectancy", "> 1100"), a_rule("cpu", "cpu.busy", "< 80")
    )
    logs = [a_log({LIFE: level(life), CPU: level(95)}, host=host) for host, life in (("ONE", 900), ("TWO", 500))]
    found = page(a_review(*logs, packs=(pack,)))
    assert len(found.all("section", "crossed ")) == 2
    assert "critical Page life expectancy on 2 of 2 hosts, worst" in found.text
    assert "warning Processor time on 2 of 2 hosts, worst" in found.text
    for said in ("Summary of life.", "Summary of life-long.", "ONE · > 3,600 s", "TWO · > 1,100 s"):
        assert said in found.text
    assert [text for _, text, _ in found.data["charts"][0]["limits"]] == ["threshold 3,600 s", "threshold 1,100 s"]


def often_crossed():
    """Over the limit two minutes in every three, which never fires by `for`."""
    busy = np.where(np.arange(720) % 36 < 24, 95.0, 20.0)
    found = a_review(a_log({CPU: busy}), packs=(a_pack(a_rule("cpu", "cpu.busy", "< 80", **{"for": "5m"})),))
    (one,) = found.findings
    return replace(found, findings=(replace(one, outcome=Outcome.OFTEN),))


def test_what_was_often_crossed_is_shown_with_every_crossing():
    found = often_crossed()
    crossings = found.findings[0].counted
    shown = page(found)
    assert len(crossings) == 20
    assert "warning Processor time SQL01" in shown.text
    for one in crossings:
        assert f"{BERLIN.clock(one.start, date=False)} – {BERLIN.clock(one.end, date=False)}" in shown.text
    assert len(shown.data["charts"][0]["spans"]) == 20


def test_a_healthy_report_has_a_chart_of_each_signal_with_its_limit_and_brief_crossings():
    busy = np.full(720, 40.0)
    busy[100:112] = 99
    disks = {QUEUE.format(f"{n} C:"): level(1 + n / 10) for n in range(12)}
    found = a_review(
        a_log({CPU: busy, MEMORY: level(600e6)} | disks),
        packs=(a_pack(*PACK.rules[2:], a_rule("busy", "cpu.busy", "< 80", **{"for": "5m"})),),
    )
    (brief,) = next(one.brief for one in found.of(Outcome.WITHIN) if one.brief)
    shown = page(found)
    assert "3 warning and critical thresholds held" in shown.text
    charts = [[text for _, text, _ in chart["limits"]] for chart in shown.data["charts"]]
    assert charts == [["threshold 80 %"], ["threshold 3 requests"], ["threshold 4 MB"]], "closest to its limit first"
    when = f"{BERLIN.clock(brief.start, date=False)} – {BERLIN.clock(brief.end, date=False)}"
    assert f"{when} 1 min" in shown.text
    labels = [label for label, *_ in shown.lines(1)]
    assert len(labels) == 8
    assert labels[1].startswith("SQL01, 11 C:"), "the worst instance first"
    items = shown.all("details", "item")
    assert ["open" in one for one in items] == [True, True, True]


def test_a_comparison_keeps_to_the_phase_of_the_breach():
    """Busy for ten minutes of the steady phase: what memory was then is not set against the ramp-up."""
    rows = 1800
    busy, memory = np.full(rows, 20.0), np.full(rows, 100e6)
    busy[900:1020] = 95
    memory[:600], memory[900:1020] = 900e6, 50e6
    rule = a_rule("cpu", "cpu.busy", "< 80", look_at=["memory.available"])
    phases = (
        Phase("ramp-up", START, START + 3000 * SECOND - 1),
        Phase("steady", START + 3000 * SECOND, START + 9000 * SECOND),
    )
    log = a_log({CPU: busy, MEMORY: memory})
    known = page(a_review(log, packs=(a_pack(rule),), phases=phases)).text
    assert re.search(r"mean 4\d(\.\d)? MB while crossed, 9\d(\.\d)? MB in the rest of the steady phase", known)
    unknown = page(a_review(log, packs=(a_pack(rule),))).text
    assert re.search(r"mean 4\d(\.\d)? MB while crossed (?!,)", unknown)
    assert "otherwise" not in unknown


def test_hosts_against_signals_where_there_are_more_than_three():
    def fleet(count):
        loads = [95, 20, 30, 40][:count]
        return page(
            a_review(*(a_log({CPU: level(load), LIFE: level(9999)}, host=f"H{n}") for n, load in enumerate(loads)))
        )

    assert not fleet(3).all("table", "matrix")
    found = fleet(4)
    assert found.all("table", "matrix")
    cells = [attrs for attrs in found.all("a") if attrs.get("aria-label") in ("warning, crossed", "within limits")]
    assert (cells[0]["aria-label"], cells[0]["href"]) == ("warning, crossed", "#crossed-cpu-busy")
    assert [cell["aria-label"] for cell in cells].count("within limits") == 7
    assert re.search(r"H0 ▲ .* H3 · · H2 · · H1 · ·", found.text), "the worst host first"
    ids = {attrs["id"] for _, attrs in found.elements if "id" in attrs}
    assert {cell["href"][1:] for cell in cells} <= ids


def test_the_report_says_what_made_it_when_and_from_which_bytes(tmp_path):
    (tmp_path / "SQL01.csv").write_bytes(b"abc")
    log = replace(a_log({CPU: level(5)}), path=tmp_path / "SQL01.csv")
    text = page(a_review(log)).text
    assert f"{tmp_path}/SQL01.csv ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" in text
    assert "Plimsoll 0.1.0, report of 2026-02-02 02:40:00 UTC." in text


def test_no_data_is_never_shown_as_held():
    columns = {LIFE: np.full(300, np.nan), CPU: level(30, 300)}
    directory = a_pack(a_rule("ldap", "cpu.busy", "< 5"), objects=["NTDS"], name="directory")
    text = render(Insights(a_review(a_log(columns), packs=(PACK, directory))))
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


def test_a_log_of_no_row_and_of_one_are_reported_too():
    assert "Not known." in page(a_review(a_log({CPU: np.empty(0)}))).text
    assert "Processor time" in page(a_review(a_log({CPU: np.array([5.0])}))).text
