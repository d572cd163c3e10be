"""Tables as Grafana shows them have the right columns, and a row for each subject."""

import re
from dataclasses import replace

import pytest

from plimsoll.export.grafana.check.panel_queries import panels
from tests.export.grafana.committed import dashboards
from tests.export.grafana.tables import Trend, line, shown, table


def panel(uid, number):
    return next(one for one in panels(dashboards()[uid]) if one.get("id") == number)


def lines(one, hosts):
    """Return a line for each host and target, as the plugin names it."""
    for target in one["targets"]:
        tags = re.findall(r'"([^"]+)"', target["query"].rpartition(" GROUP BY ")[2])
        for host in hosts:
            labels = {tag: host if tag in ("host", "source") else "0 C:|D:" for tag in tags}
            yield line(target["refId"], named(target["alias"], labels), labels, [70.0, None, 120.0])


def named(alias, labels):
    return re.sub(r"\$tag_(\w+)", lambda tag: labels[tag[1]], alias)


def heading(one, name):
    """Return the heading of the column that an override of a property applies to."""
    return [
        override["matcher"]["options"]["names"][0]
        for override in one["fieldConfig"]["overrides"]
        if any(it["id"] == name for it in override["properties"])
    ]


def test_distance_has_a_row_for_each_host_and_limit():
    one = panel("plimsoll-health", 2)
    heads, rows = shown(one, [*lines(one, ["WEB01"])])
    assert heads == ["State", "Host", "Limit", "At worst", "Last", "Panel"]
    assert len(rows) == len(one["targets"])
    assert {row[1] for row in rows} == {"WEB01"}
    limits = {row[2] for row in rows}
    assert "Processor time < 80 %" in limits
    assert any(limit.endswith(" · 0 C:|D:") for limit in limits), "of each disk"
    assert {row[3:5] for row in rows} == {(120.0, 120.0)}
    assert {name for it in one["fieldConfig"]["overrides"] for name in it["matcher"]["options"]["names"]} <= set(heads)
    assert one["options"]["sortBy"][0]["displayName"] in heads


@pytest.mark.parametrize(
    ("limit", "share", "state"),
    [
        ("Processor time < 80 %", 99, "within"),
        ("Processor time < 80 %", 101, "▲ warning"),
        ("Processor time < 80 %", 113, "◆ critical"),  # of a limit of 90 %
        ("Available memory, share of all ≥ 10 %", 101, "▲ warning"),
        ("Available memory, share of all ≥ 10 %", 201, "◆ critical"),
        ("Available memory ≥ 1,000 MB", 101, "beyond"),  # a breach only on a large host
        ("Context switches < 15,000 /s", 1_000, "▲ warning"),
        ("Database queue latency < 100 ms", 99, "within"),
        ("Database queue latency < 100 ms", 101, "◆ critical"),
        ("Page life expectancy > 3,600 s · 0 C:|D:", 101, "beyond"),  # a breach only in a phase
        ("Server work queue length ≤ 3 requests · 0 C:|D:", 101, "beyond"),  # a breach only with a busy processor
    ],
)
def test_the_state_has_the_severity_of_the_limit_that_is_crossed(limit, share, state):
    one = panel("plimsoll-health", 2)
    answers = [replaced(it, share) for it in lines(one, ["WEB01"])]
    _, rows = shown(one, answers)
    number = next(row[0] for row in rows if row[2] == limit)
    (mappings,) = (
        it["value"] for found in one["fieldConfig"]["overrides"] for it in found["properties"] if it["id"] == "mappings"
    )
    ranges = [it["options"] for it in mappings]
    assert next(it["result"]["text"] for it in ranges if it["from"] <= number <= it["to"]) == state


def replaced(frame, value):
    time, values = frame.columns
    return replace(frame, columns=(time, replace(values, values=tuple(value for _ in values.values))))


def test_hosts_have_a_row_each_with_a_dash_for_what_they_lack():
    one = panel("plimsoll-health", 4)
    answers = [*lines(one, ["WEB01", "web02"])]
    heads, rows = shown(one, [it for it in answers if "web02" not in it.name or it.ref_id == "A"])
    assert heads == ["Host", *heading(one, "thresholds")]
    assert [row[0] for row in rows] == ["WEB01", "web02"]
    assert rows[0][1:] == (120.0,) * (len(heads) - 1)
    assert rows[1][1:] == (120.0, *[None] * (len(heads) - 2))
    assert one["fieldConfig"]["defaults"]["mappings"][0]["options"]["result"] == {"color": "text", "text": "–"}


@pytest.mark.parametrize("hosts", [["WEB01"], ["WEB01", "web02", "db3"]])
def test_the_course_of_hosts_is_in_rows_as_their_values_are(hosts):
    values, one = panel("plimsoll-health", 4), panel("plimsoll-health", 6)
    heads, rows = shown(one, [*lines(values, hosts)])
    assert heads == ["Host", *heading(values, "thresholds")]
    assert [row[0] for row in rows] == hosts
    assert all(isinstance(cell, Trend) for row in rows for cell in row[1:])


def test_last_heard_of_shows_names_and_times():
    one = panel("plimsoll-health", 3)
    answers = [table(it["refId"], {"Time": [1_700_000_000_000], "host": [f"H{at}"], "last": [3.0]}) for at, it in enumerate(one["targets"])]  # fmt: skip
    heads, rows = shown(one, answers)
    assert heads == ["Host", "Last sample"]
    assert [row[0] for row in rows] == [f"H{at}" for at in range(len(answers))]
    assert heading(one, "unit") == ["Last sample"]
    assert "unit" not in one["fieldConfig"]["defaults"], "a host's name in a unit of times is NaN"


def test_runs_have_what_links_need_under_the_names_they_use():
    one = panel("plimsoll-runs", 1)
    selected = one["targets"][0]["query"].partition(" FROM ")[0].removeprefix("SELECT ")
    names = ["Time", *(name.strip().removesuffix("::tag").strip('"') for name in selected.split(","))]
    heads, _ = shown(one, [table("A", {name: [1] for name in names})])
    assert heads == ["Run", "From", "To", "Hosts", "Labels", "Files", "Values", "Hosts in links"]
    (links,) = [
        it["value"] for found in one["fieldConfig"]["overrides"] for it in found["properties"] if it["id"] == "links"
    ]
    for link in links:
        assert set(re.findall(r"__data\.fields\.(\w+)", link["url"])) <= set(names)


@pytest.mark.parametrize("uid", dashboards())
def test_every_table_can_be_shown(uid):
    for one in panels(dashboards()[uid]):
        if one["type"] == "table" and one["targets"][0].get("resultFormat") == "time_series":
            heads, rows = shown(one, [*lines(one, ["WEB01"])])
            assert rows
            assert len(heads) == len(set(heads)), one["title"]
            assert one["options"]["sortBy"][0]["displayName"] in heads
