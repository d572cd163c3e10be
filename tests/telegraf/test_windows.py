"""windows.conf, loaded by a real Telegraf for Windows under Wine. Nothing can be collected there: Wine has no counters."""

import re
from pathlib import Path

import pytest

CONFIGURATION = Path(__file__).parents[2] / "telegraf" / "windows.conf"


@pytest.fixture
def checked(telegraf_windows, environment, tmp_path):
    """Checks windows.conf with a part of its text replaced."""

    def check(old="", new=""):
        text = CONFIGURATION.read_text()
        assert old in text
        written = tmp_path / "windows.conf"
        written.write_text(text.replace(old, new, 1))
        return telegraf_windows(written, environment)

    return check


def test_loads(checked):
    done = checked()
    assert done.returncode == 0, done.stdout
    assert "E! " not in done.stdout


def test_a_host_that_has_nothing_of_it_is_no_error(telegraf_windows, environment):
    done = telegraf_windows(CONFIGURATION, environment, collect=True)
    assert done.returncode == 0, done.stdout
    assert re.search(r"Loaded inputs: win_perf_counters \(\d+x\)", done.stdout)
    assert "E! " not in done.stdout


def test_inputs_for_chosen_packs_load(plimsoll, telegraf_windows, tmp_path):
    """The printed inputs load beside an output; no agent section is needed."""
    inputs = plimsoll("rules", "counters", "--as", "telegraf", "--only", "sql-server", "--instance", "PAYROLL").out
    assert 'ObjectName = "MSSQL$$PAYROLL:Buffer Manager"' in inputs
    written = tmp_path / "own.conf"
    written.write_text(f"[[outputs.discard]]\n{inputs}")
    done = telegraf_windows(written, collect=True)
    assert done.returncode == 0, done.stdout
    assert "E! " not in done.stdout


@pytest.mark.parametrize(
    "option",
    [
        "UseWildcardsExpansion",
        "IncludeTotal",
        "log_level",
        "flush_interval",
    ],
)
def test_a_misspelt_option_is_refused(checked, option):
    done = checked(f"  {option} = ", f"  {option}s = ")
    assert done.returncode != 0
    assert f"{option}s" in done.stdout


def test_the_plugin_itself_is_asked(checked):
    """Only the Windows plugin detects a wildcard where none is allowed."""
    done = checked('["% Usage"]', '["% Us*"]')
    assert done.returncode != 0
    assert "wildcard" in done.stdout


def test_inputs_for_an_own_pack_load(plimsoll, telegraf_windows, tmp_path):
    """Its own signal is of an object that no shipped rule needs."""
    plimsoll("rules", "new", tmp_path / "mine.yaml")
    inputs = plimsoll("rules", "counters", "--as", "telegraf", "--only", tmp_path / "mine.yaml").out
    assert 'ObjectName = ".NET CLR Exceptions"' in inputs
    written = tmp_path / "own.conf"
    written.write_text(f"[[outputs.discard]]\n{inputs}")
    done = telegraf_windows(written, collect=True)
    assert done.returncode == 0, done.stdout
    assert "E! " not in done.stdout
