"""Tables as Grafana shows them have the right columns, and a row for each subject."""

import json
import re

import pytest

from grafana import dashboard_files
from grafana.panel_queries import panels
from tests.grafana.tables import Trend, line, shown, table

FILES = {data["uid"]: data for data in map(json.loads, dashboard_files.files().values())}


def panel(uid, number):
    return next(one for one in panels(FILES[uid]) if one.get("id") == number)


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
    assert heads == ["Host", "Limit", "State", "Reached", "Left", "Highest"]
    assert len(rows) == len(one["targets"])
    assert {row[0] for row in rows} == {"WEB01"}
    limits = {row[1] for row in rows}
    assert "▲ Processor time < 80 %" in limits
    assert all(limit[0] in "◆▲○" for limit in limits), "the names of limits, not of fields"
    assert any(limit.endswith(" · 0 C:|D:") for limit in limits), "of each disk"
    assert {row[2:] for row in rows} == {(1_000_000_120.0, 120.0, -20.0, 120.0)}
    assert set(heading(one, "custom.cellOptions")) <= set(heads)
    assert one["options"]["sortBy"][0]["displayName"] in heads


@pytest.mark.parametrize("hosts", [["WEB01"], ["WEB01", "web02", "db3"]])
def test_hosts_have_a_row_each_whatever_they_have_in_several_ways(hosts):
    one = panel("plimsoll-health", 4)
    heads, rows = shown(one, [*lines(one, hosts)])
    assert heads == ["Host", *heading(one, "custom.cellOptions")]
    assert [row[0] for row in rows] == hosts
    assert all(isinstance(cell, Trend) for row in rows for cell in row[1:])


def test_hosts_of_different_kinds_share_columns():
    one = panel("plimsoll-health", 4)
    first = {}
    for target in one["targets"]:
        first.setdefault('FROM "win' in target["query"], []).append(target["refId"])
    answers = [it for it in lines(one, ["WIN"]) if it.ref_id in first[True]]
    answers += [it for it in lines(one, ["LINUX"]) if it.ref_id in first[False]]
    heads, rows = shown(one, answers)
    assert heads == ["Host", *heading(one, "custom.cellOptions")]
    assert [row[0] for row in rows] == ["WIN", "LINUX"]
    busy = heads.index(next(head for head in heads if head.startswith("Processor time")))
    assert all(isinstance(row[busy], Trend) for row in rows)


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
    for link in one["fieldConfig"]["defaults"]["links"]:
        assert set(re.findall(r"__data\.fields\.(\w+)", link["url"])) <= set(names)


@pytest.mark.parametrize("uid", FILES)
def test_every_table_can_be_shown(uid):
    for one in panels(FILES[uid]):
        if one["type"] == "table" and one["targets"][0]["resultFormat"] == "time_series":
            heads, rows = shown(one, [*lines(one, ["WEB01"])])
            assert rows
            assert len(heads) == len(set(heads)), one["title"]
            assert one["options"]["sortBy"][0]["displayName"] in heads
