"""What a review of a Linux host tells people to record with sysstat is judged once they do."""

import re
from dataclasses import replace

import pytest

from .linux import hosts
from .run import reviewed

WELL = next(host for host in hosts() if host.name == "Linux today, healthy")
SICK = {host.name: host for host in hosts()}
# What each option of sar that may be advised writes.
WRITES = {"-u": "CPU", "-r": "-r", "-d": "DEV", "-F": "FILESYSTEM"}
ILL = {"CPU": "processors", "-r": "memory", "DEV": "disk"}


def without(label):
    """The healthy host without a section."""
    return replace(WELL, sections={name: rows for name, rows in WELL.sections.items() if name != label})


@pytest.mark.parametrize("label", ILL)
def test_the_options_of_sar_that_are_advised_are_judged(tmp_path, label):
    headline = reviewed(without(label), tmp_path / "before")["headline"]
    match = re.search(r"not judged; record Telegraf's [a-z_ ]+, or sar ([^;.]+)\.", headline)
    assert match, headline
    options = re.findall(r"-[a-zA-Z]\b", match[1])
    assert [WRITES[option] for option in options if option in WRITES] == [label]
    added = {name: WELL.sections[name] for name in (WRITES[option] for option in options if option in WRITES)}
    again = replace(WELL, sections={**without(label).sections, **added})
    assert reviewed(again, tmp_path / "after")["verdict"] == "healthy"
    sick = SICK[f"Linux today, {ILL[label]}"].sections[label]
    ill = replace(WELL, sections={**without(label).sections, label: sick})
    assert reviewed(ill, tmp_path / "ill")["verdict"] == "not-healthy"
