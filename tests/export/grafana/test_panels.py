"""Panels of signals: their limits are those of the packs, and their descriptions are complete."""

import re
from dataclasses import replace

import pytest

from plimsoll.dashboards import areas
from plimsoll.dashboards.areas import PanelSpec, load_areas
from plimsoll.dashboards.limits import PanelLimits, format_title
from plimsoll.export.grafana.dashboards.panels import build_cell_thresholds, find_panel, list_threshold_steps
from plimsoll.export.grafana.dashboards.parts import load_look
from plimsoll.export.selections import list_drawn_variants
from plimsoll.model.errors import Unusable
from plimsoll.rules.load import load, load_signals
from plimsoll.rules.schema.field_types import Healthy
from tests.export.grafana.committed import dashboards
from tests.export.grafana.panel_queries import panels

# Facts of hosts are not stored, so no panel shows them.
RULES = [rule for pack in load().packs for rule in pack.rules if not load_signals()[rule.signal].fact]
load_areas()  # a mistake in dashboards/areas.yaml is one error, not one for each rule
each_rule = pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)


def home(signal):
    """Return the panel of a signal."""
    result = find_panel(signal)
    assert result, f"signal {signal} has no panel: add one to dashboards/areas.yaml"
    uid, number = result
    panel = next((panel for panel in panels(dashboards()[uid]) if panel["id"] == number), None)
    assert panel, f"dashboards/grafana does not have panel {number} of {uid}: run plimsoll grafana export"
    return panel


def shown(rule):
    return home(rule.signal)


def values(panel):
    return [step["value"] for step in panel["fieldConfig"]["defaults"]["thresholds"]["steps"]]


def drawn(rule):
    """Return the limit of a rule in the unit of its panel."""
    return rule.healthy.limit * load_look().units[load_signals()[rule.signal].unit].scale


@each_rule
def test_each_rule_has_a_panel_that_draws_its_limit(rule):
    panel = shown(rule)
    defaults = panel["fieldConfig"]["defaults"]
    if rule.superseded_by:
        assert "an old limit, not drawn" in panel["description"]
    elif rule.where_unknown == "skip":
        assert "not judged" in panel["description"]
    elif rule.reduce == "increase" or (rule.where and not rule.where_unknown):
        assert "not drawn" in panel["description"]
    elif rule.scale:
        line = f"* 0 + {drawn(rule):.12g} * ${rule.scale}"
        assert any(line in target.get("query", "") for target in panel["targets"])
        assert drawn(rule) not in values(panel)
    else:
        assert drawn(rule) in values(panel)
        assert defaults["custom"]["thresholdsStyle"]["mode"] in ("line", "dashed")


@each_rule
def test_each_rule_is_described_and_linked(rule):
    """The description names document and place of the limit, and there is a link to the rule's page."""
    panel = shown(rule)
    for source in rule.sources:
        assert f"{source.document}, {source.place}" in panel["description"]
    assert load_signals()[rule.signal].meaning.strip() in panel["description"]
    page = f"/public/plimsoll/rules/{rule.id}.md"
    assert page in panel["description"]
    assert page in [link["url"] for link in panel["links"]]


@each_rule
def test_where_a_rule_says_to_look_is_linked(rule):
    urls = " ".join(link["url"] for link in shown(rule)["links"])
    for name in rule.look_at:
        assert any(
            f"/d/{area.uid}?" in urls for area in load_areas().areas for panel in area.panels if panel.signal == name
        )


@pytest.mark.parametrize("uid", dashboards())
def test_no_line_is_not_a_limit(uid):
    """Every threshold of every panel is the limit of a rule of its signal."""
    specs = {spec.id: spec for area in load_areas().areas if area.uid == uid for spec in area.panels}
    for panel in panels(dashboards()[uid]):
        if panel["id"] in specs and panel["type"] == "timeseries":
            limits = [drawn(rule) for rule in PanelLimits().rules_of(specs[panel["id"]])]
            assert set(values(panel)) - {None} <= set(limits)


def test_limits_of_some_disks_are_not_drawn_for_all():
    item, databases = (
        next(spec for area in load_areas().areas for spec in area.panels if (spec.signal, spec.drive) == result)
        for result in (("disk.reads", None), ("disk.reads", "database"))
    )
    assert PanelLimits().rules_of(item) == ()
    assert [step["value"] for step in list_threshold_steps(PanelLimits().rules_of(databases))] == [None, 10]
    assert find_panel("disk.reads") == ("plimsoll-sql-server", databases.id)
    target = home("disk.reads")["targets"][0]
    assert '"instance" =~ /^$database_disk$/' in target["query"]


def test_a_floor_is_coloured_below_and_a_ceiling_above():
    colors = load_look().severities

    def steps(signal):
        rules = PanelLimits().rules_of(PanelSpec(id=1, signal=signal))
        return [(step["value"], step["color"]) for step in list_threshold_steps(rules)]

    assert steps("cpu.busy") == [
        (None, "transparent"),
        (80, colors["warning"]),
        (90, colors["critical"]),
        (99, colors["critical"]),
    ]
    assert steps("memory.available") == [
        (None, colors["critical"]),
        (100 * 1048576, colors["critical"]),
        (500 * 1048576, colors["warning"]),
        (1000 * 1048576, "transparent"),
    ]
    assert steps("sql.page_life_expectancy") == [
        (None, colors["critical"]),
        (300, colors["warning"]),
        (3600, "transparent"),
    ]
    assert steps("network.to_disk_bytes") == [(None, colors["info"]), (0.9, "transparent"), (1.1, colors["info"])]


def test_cells_have_the_colour_on_the_other_side_alone():
    """Grafana's steps include their value: `<= 300` is healthy at 300, `< 80` is not at 80."""

    def first(signal):
        rules = PanelLimits().rules_of(PanelSpec(id=1, signal=signal))
        return build_cell_thresholds(rules, 1)["steps"][1]["value"]

    assert first("cpu.busy") == 80
    (busy, *_) = PanelLimits().rules_of(PanelSpec(id=1, signal="cpu.busy"))
    at_most = replace(busy, healthy=Healthy("<=", 300))
    assert 300 < build_cell_thresholds([at_most], 1)["steps"][1]["value"] < 300.000001
    above = replace(busy, healthy=Healthy(">", 3600))
    assert 3600 < build_cell_thresholds([above], 1)["steps"][1]["value"] < 3600.000001


def test_evaluation_budget_end_at_a_hundred():
    for signal in ("cpu.busy", "sql.buffer_cache_hit_ratio", "paging_file.used"):
        defaults = home(signal)["fieldConfig"]["defaults"]
        assert (defaults["min"], defaults["max"]) == (0, 100)


def test_every_signal_is_on_a_dashboard():
    shown_signals = {spec.signal for area in load_areas().areas for spec in area.panels}
    signals = load_signals()
    # Neither facts of hosts nor shares of them are stored.
    assert shown_signals == {name for name in signals if not signals[name].fact and list_drawn_variants(name, signals)}


def test_titles_name_the_limit():
    titles = {spec.signal: format_title(spec, PanelLimits()) for area in load_areas().areas for spec in area.panels}
    assert titles["cpu.busy"] == "Processor time · < 80 %"
    assert titles["memory.available"] == "Available memory · ≥ 1,000 MB"
    assert titles["disk.queue_length"] == "Disk queue length · ≤ 10 requests"
    assert titles["network.to_disk_bytes"] == "Network bytes for each disk byte · ≥ 0.9, ≤ 1.1"
    assert titles["cpu.queue_length"] == "Processor queue length"


def test_a_rule_for_some_hosts_is_described_and_not_drawn_for_all():
    """With an unknown number of processors no limit is drawn; for pools only the limit of severity info is."""
    sent = home("ldap.bytes_sent")
    assert values(sent) == [None]
    assert "not drawn, it is for hosts with 2 processors, and processors is not known" in sent["description"]
    assert "○ info: healthy while the last value of 1 min is ≤ 120 MB" in home("memory.pool_nonpaged")["description"]


def test_conditions_for_unknown_phases_are_described():
    text = "where phases are not known, only while the increase over 10 min of page life expectancy is not ≥ 300 s"
    assert text in home("sql.page_life_expectancy")["description"]


@pytest.mark.parametrize(
    ("signal", "field", "labels", "name"),
    [
        ("network.to_disk_bytes", "net", "WEB01", "WEB01"),  # so Grafana calls a line with a single label
        ("network.to_disk_bytes", "net", '{host="WEB01"}', "WEB01"),
        ("disk.size_percent", "free", '{host="web01", path="/srv"}', "web01 /srv"),
        (
            "network.sent_utilization",
            "win_net",
            '{host="MON01", instance="NIC 1", source="WEB01"}',
            "WEB01 NIC 1",
        ),
        (
            "network.sent_utilization",
            "win_net_adapter",
            '{host="WEB01", instance="NIC 1", source="WEB01"}',
            "WEB01 NIC 1 (Network Adapter)",
        ),
        (
            "sql.node_page_life_per_4gb",
            "sqlserver_performance",
            '{instance="0", sql_instance="DB01:PAYROLL"}',
            "DB01:PAYROLL 0",
        ),
    ],
)
def test_computed_lines_are_named_by_host_and_instance(signal, field, labels, name):
    panel = home(signal)
    rows = {target["refId"] for target in panel["targets"] if f'"{field}"' in target.get("query", "")}
    computed = [target["refId"] for target in panel["targets"] if {*rows} & {*_operands(target)}]
    assert len(computed) == 1
    shown = f"{computed[0]} {labels}"
    for step in panel["transformations"]:
        pattern = re.sub(r"\$(\d)", r"\\\1", step["options"]["renamePattern"])
        shown = re.sub(step["options"]["regex"].strip("/"), pattern, shown, count=1)
    assert shown == name


def _operands(target):
    return re.findall(r"\$([A-Z]+)", target.get("expression", ""))


@pytest.mark.parametrize(
    ("old", "new", "output"),
    [
        ("id: 2, signal: cpu.context_switches", "id: 1, signal: cpu.context_switches", "the id 1 stands at"),
        ("signal: cpu.context_switches", "signal: cpu.context_swiches", '(did you mean "cpu.context_switches"?)'),
        ("limits:\n", "limits:\n    - [no-such-rule]\n", 'rule "no-such-rule" is not known'),
    ],
)
def test_a_mistake_in_areas_yaml_is_named_with_its_place(tmp_path, monkeypatch, old, new, output):
    text = areas.find_shipped_files("dashboards").joinpath("areas.yaml").read_text("utf-8")
    assert old in text
    (tmp_path / "areas.yaml").write_text(text.replace(old, new, 1), encoding="utf-8")
    monkeypatch.setattr(areas, "find_shipped_files", lambda name: tmp_path)
    with pytest.raises(Unusable, match=r"areas\.yaml:\d+:\d+: ") as refused:
        areas.load_areas.__wrapped__()
    assert output in str(refused.value)
