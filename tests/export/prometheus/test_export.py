"""What is exported for Prometheus: its own tools take all of it."""

import subprocess

import pytest
import yaml

from plimsoll.export.prometheus.alerting_rules import PrometheusOptions
from plimsoll.export.prometheus.rule_files import export
from plimsoll.hosts.settings import load
from plimsoll.hosts.site import load_site
from plimsoll.rules.load import load as load_rules
from tests.conftest import built

CATALOGUE = load_rules((), ())


@pytest.fixture(scope="module")
def everything():
    return export(CATALOGUE.packs, CATALOGUE.signals)


def rules_of(values):
    return [
        rule
        for text in values.files.values()
        for group in yaml.load(text, yaml.CSafeLoader)["groups"]
        for rule in group["rules"]
    ]


def write(values, folder):
    for name, text in values.files.items():
        (folder / name).write_text(text)
    return [str(folder / name) for name in values.files if name.endswith(".rules.yaml")]


def test_every_rule_is_exported_or_refused_with_a_reason(everything):
    exported, refused = {rule["alert"] for rule in rules_of(everything)}, {item.rule for item in everything.refused}
    assert exported | refused == {rule.id for pack in CATALOGUE.packs for rule in pack.rules}
    assert len(exported) > 430
    assert all(item.reason for item in everything.refused)


def test_prometheus_and_vmalert_take_every_file(everything, tmp_path):
    files = write(everything, tmp_path)
    done = subprocess.run(
        [built("promtool"), "check", "rules", "--lint-fatal", *files], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    done = subprocess.run([built("vmalert"), "-dryRun", f"-rule={tmp_path}/*.rules.yaml"], capture_output=True, text=True, check=False)  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_limit_of_one_host_is_a_rule_of_its_own(tmp_path):
    settings = tmp_path / "plimsoll.toml"
    settings.write_text('[hosts.WEB01.rules.windows-cpu-busy-critical]\nhealthy = "< 99"\nreason = "agreed"\n')
    site = load_site(load(settings), settings, CATALOGUE)
    result = export(CATALOGUE.packs, CATALOGUE.signals, site, PrometheusOptions())
    rules = [rule for rule in rules_of(result) if rule["alert"] == "windows-cpu-busy-critical"]
    outcome = [rule for rule in rules if rule["labels"].get("only") == "WEB01"]
    assert outcome
    assert all('source=~"(?i)WEB01(\\\\..*)?"' in rule["expr"] and ">= 99" in rule["expr"] for rule in outcome)
    assert all('source!~"(?i)WEB01(\\\\..*)?"' in rule["expr"] for rule in rules if rule not in outcome)


def test_the_command_writes_files_names_refusals_and_removes_what_was_written_before(plimsoll, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = plimsoll("prometheus", "export", "--only", "vmware-guest", "--out", "rules")
    assert done.status == 0
    assert "to rules" in done.out
    assert (tmp_path / "rules" / "vmware-guest.rules.yaml").is_file()
    done = plimsoll("prometheus", "export", "--only", "dhcp", "--only", "disk", "--out", "rules")
    assert "not exported: disk-queue-per-spindle from server_agent_fs.disks_queue, \\PhysicalDisk(_Total)" in done.err
    assert not (tmp_path / "rules" / "vmware-guest.rules.yaml").exists()
