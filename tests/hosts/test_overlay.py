"""limits.toml: limits that were changed on pages, over those of plimsoll.toml."""

import tomllib

import pytest

from plimsoll.hosts import overlay, settings
from plimsoll.model.errors import Unusable
from plimsoll.rules.load import load
from tests.each import run_each

CPU = "windows-cpu-busy-critical"
DISK = "windows-disk-read-latency"
HOSTILE = 'x"] \n[rules.y]\\ \x7f é'


@pytest.fixture(scope="module")
def catalogue():
    return load()


def changed(folder, catalogue, host="WEB1", rule=CPU, healthy="< 97 %", reason="a batch server", who="anna", **options):
    fields = {"healthy": healthy, "reason": reason, **options}
    return overlay.change_limit(folder, catalogue, catalogue.rules[rule], host, fields, who)


def judged(folder, catalogue, host, rule=CPU, given=""):
    path = folder / "plimsoll.toml"
    overrides = overlay.load_with_overlay(settings.parse(given, path), path, folder, catalogue)
    return overrides.of(catalogue.rules[rule], host)


def test_a_changed_limit_is_judged_on_that_host_alone_with_reason_and_name(tmp_path, catalogue):
    assert changed(tmp_path, catalogue, **{"for": "20m"}) == "< 97 %, for 20m"
    rule, override = judged(tmp_path, catalogue, "web1")
    assert (rule.healthy.limit, rule.for_) == (97, 20 * 60 * 10**9)
    assert override
    assert override.note.endswith("a batch server (anna)")
    assert judged(tmp_path, catalogue, "WEB2") == (catalogue.rules[CPU], None)
    assert (tmp_path / overlay.FILE_NAME).stat().st_mode & 0o777 == 0o600


def test_it_counts_over_the_one_of_plimsoll_toml_and_not_for_other_rules(tmp_path, catalogue):
    text = f'[hosts.WEB1.rules.{CPU}]\nhealthy = "< 50 %"\nreason = "r"\n'
    text += f'[rules.{DISK}]\nhealthy = "< 30 ms"\nreason = "slow disks"\n'
    changed(tmp_path, catalogue)
    assert judged(tmp_path, catalogue, "WEB1", given=text)[0].healthy.limit == 97
    override = judged(tmp_path, catalogue, "WEB1", DISK, given=text)[1]
    assert override
    assert override.reason == "slow disks"
    overlay.remove(tmp_path, CPU, "web1")
    assert judged(tmp_path, catalogue, "WEB1", given=text)[0].healthy.limit == 50
    assert not (tmp_path / overlay.FILE_NAME).exists()


def test_changes_of_several_hosts_and_rules_stay_when_another_is_made(tmp_path, catalogue):
    changed(tmp_path, catalogue, **{"for": "90s"})
    changed(tmp_path, catalogue, "DB1", DISK, "< 0.04 s")
    changed(tmp_path, catalogue, HOSTILE, reason=HOSTILE)
    changed(tmp_path, catalogue, "web1", DISK, "< 35 ms")
    result = tomllib.loads((tmp_path / overlay.FILE_NAME).read_text())["hosts"]
    assert result["WEB1"]["rules"][CPU] == {"healthy": "< 97 %", "for": "90s", "reason": "a batch server (anna)"}
    assert result.keys() == {"WEB1", "DB1", HOSTILE}  # web1 is WEB1
    assert judged(tmp_path, catalogue, "WEB1", DISK)[0].healthy.limit == pytest.approx(0.035)
    assert judged(tmp_path, catalogue, HOSTILE)[0].healthy.limit == 97
    assert overlay.list_changed_hosts(tmp_path, DISK) == {"web1", "db1"}


@run_each(
    [
        ({"healthy": "> 97 %"}, "other side of the limit"),
        ({"healthy": "< 101 %"}, "can never be crossed"),
        ({"healthy": "much"}, "much"),
        ({"reason": " "}, "give the reason"),
        ({"reason": "x" * 501}, "501 characters"),
        ({"for": "soon"}, "for"),
    ],
    named=lambda case: repr(case[0])[:60],
)
def test_what_is_no_limit_is_refused_and_nothing_is_written(case, tmp_path, catalogue):
    result, why = case
    with pytest.raises(Unusable) as refused:
        changed(tmp_path, catalogue, **result)
    assert why in str(refused.value)
    assert str(tmp_path) not in str(refused.value)
    assert not (tmp_path / overlay.FILE_NAME).exists()


def test_a_file_that_no_rule_fits_is_refused_with_its_name(tmp_path, catalogue):
    (tmp_path / overlay.FILE_NAME).write_text('[hosts.A.rules.gone]\noff = true\nreason = "r"\n')
    with pytest.raises(Unusable, match=r"limits\.toml: hosts\.A\.rules\.gone: no rule has this id"):
        judged(tmp_path, catalogue, "A")
