"""What is exported for Prometheus: its own tools take all of it, and its unit tests hold."""

import subprocess

import pytest
import yaml

from plimsoll.export.prometheus.alerting_rules import PrometheusOptions
from plimsoll.export.prometheus.check import mistakes
from plimsoll.export.prometheus.rule_files import export
from plimsoll.hosts.settings import load
from plimsoll.hosts.site import site_of
from plimsoll.rules.load import load as load_rules
from tests.conftest import built

CATALOGUE = load_rules((), ())
TESTED = ("dhcp", "leaks", "netlogon", "smb")  # they have rates, latencies, sums and increases


@pytest.fixture(scope="module")
def everything():
    return export(CATALOGUE.packs, CATALOGUE.signals, with_tests=False)


def rules_of(made):
    return [
        rule
        for text in made.files.values()
        for group in yaml.load(text, yaml.CSafeLoader)["groups"]
        for rule in group["rules"]
    ]


def write(made, folder):
    (folder / "tests").mkdir(exist_ok=True)
    for name, text in made.files.items():
        (folder / name).write_text(text)
    return [str(folder / name) for name in made.files if name.endswith(".rules.yaml")]


def test_every_rule_is_exported_or_refused_with_a_reason(everything):
    exported, refused = {rule["alert"] for rule in rules_of(everything)}, {one.rule for one in everything.refused}
    assert exported | refused == {rule.id for pack in CATALOGUE.packs for rule in pack.rules}
    assert len(exported) > 430
    assert all(one.reason for one in everything.refused)


def test_prometheus_and_vmalert_take_every_file(everything, tmp_path):
    files = write(everything, tmp_path)
    done = subprocess.run(
        [built("promtool"), "check", "rules", "--lint-fatal", *files], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    done = subprocess.run([built("vmalert"), "-dryRun", f"-rule={tmp_path}/*.rules.yaml"], capture_output=True, text=True, check=False)  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_check_finds_nothing_in_what_was_exported(everything):
    assert list(mistakes(everything.files, CATALOGUE.signals)) == []


@pytest.fixture(scope="module")
def tested(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rules")
    made = export([pack for pack in CATALOGUE.packs if pack.pack in TESTED], CATALOGUE.signals)
    write(made, folder)
    return folder, made


def test_promtool_makes_of_cases_what_plimsoll_does(tested):
    folder, made = tested
    assert made.cases > 70
    done = subprocess.run([built("promtool"), "test", "rules", *map(str, sorted((folder / "tests").iterdir()))], capture_output=True, text=True, check=False)  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_unit_test_fails_where_a_limit_is_another(tested, tmp_path):
    _, made = tested
    write(made, tmp_path)
    rules = tmp_path / "dhcp.rules.yaml"
    rules.write_text(rules.read_text().replace(" > ", " > 1e9 + ").replace(" >= ", " >= 1e9 + "))
    done = subprocess.run([built("promtool"), "test", "rules", tmp_path / "tests" / "dhcp.test.yaml"], capture_output=True, text=True, check=False)  # fmt: skip
    assert done.returncode == 1
    assert "FAILED" in done.stdout + done.stderr


EXPR = 'avg_over_time(mem_available[1m]) < 5 or (max (ALERTS{alertname="x"}) + Inf)'
GOOD = {"alert": "x", "expr": EXPR, "labels": {"severity": "warning"}}
WRONG = {
    "has_unknown_keys": ([{**GOOD, "For": "5m"}], '"For" is no key of an alerting rule; there are alert, expr, for, keep_firing_for, labels, annotations'),
    "reads_nothing": ([{**GOOD, "expr": 'ALERTS{alertname="x"} + 0'}], "its expr selects no metric"),
    "reads_unknown": ([{**GOOD, "expr": EXPR.replace("mem_", "men_")}], "no signal is read from the metric men_available"),
    "lacks_severity": ([{**GOOD, "labels": {"severity": "page"}}], "its label severity is page, not one of info, warning, critical"),
    "is_there_twice": ([GOOD, GOOD], "there is another rule of this name with the same labels"),
    "keeps_another": ([{**GOOD, "alert": "y"}], "its expr keeps the alert x firing, not its own"),
}  # fmt: skip


@pytest.mark.parametrize("mistake", WRONG)
def test_a_mistake_is_found_alone(mistake):
    rules, wrong = WRONG[mistake]
    text = yaml.dump({"groups": [{"name": "g", "rules": rules}]})
    assert list(mistakes({"f": text}, CATALOGUE.signals)) == [f"f: {rules[-1]['alert']}: {wrong}"]
    assert list(mistakes({"f": yaml.dump({"groups": [{"name": "g", "rules": [GOOD]}]})}, CATALOGUE.signals)) == []


def test_a_limit_of_one_host_is_a_rule_of_its_own(tmp_path):
    settings = tmp_path / "plimsoll.toml"
    settings.write_text('[hosts.WEB01.rules.windows-cpu-busy-critical]\nhealthy = "< 99"\nreason = "agreed"\n')
    site = site_of(load(settings), settings, CATALOGUE)
    made = export(CATALOGUE.packs, CATALOGUE.signals, site, PrometheusOptions(), with_tests=False)
    found = [rule for rule in rules_of(made) if rule["alert"] == "windows-cpu-busy-critical"]
    own = [rule for rule in found if rule["labels"].get("only") == "WEB01"]
    assert own
    assert all('source=~"(?i)WEB01(\\\\..*)?"' in rule["expr"] and ">= 99" in rule["expr"] for rule in own)
    assert all('source!~"(?i)WEB01(\\\\..*)?"' in rule["expr"] for rule in found if rule not in own)


def test_the_command_writes_files_names_refusals_and_removes_what_was_written_before(plimsoll, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = plimsoll("prometheus", "export", "--only", "vmware-guest", "--out", "rules")
    assert done.status == 0
    assert "to rules" in done.out
    assert (tmp_path / "rules" / "vmware-guest.rules.yaml").is_file()
    assert (tmp_path / "rules" / "tests" / "vmware-guest.test.yaml").is_file()
    done = plimsoll("prometheus", "export", "--only", "dhcp", "--only", "disk", "--out", "rules")
    assert "not exported: disk-queue-per-spindle from \\PhysicalDisk(_Total)\\Avg. Disk Queue Length" in done.err
    assert not (tmp_path / "rules" / "vmware-guest.rules.yaml").exists()
    assert plimsoll("prometheus", "check", "rules").out.startswith("ok: 2 files")
    file = tmp_path / "rules" / "dhcp.rules.yaml"
    file.write_text(file.read_text().replace("severity: warning", "severity: urgent"))
    done = plimsoll("prometheus", "check", "rules")
    assert done.status == 2
    assert "its label severity is urgent" in done.err
