"""plimsoll.toml: facts, phases, and mistakes."""

import pytest

from plimsoll.hosts.facts import Facts, UnknownFact
from plimsoll.hosts.settings import load
from plimsoll.model.errors import Unusable
from plimsoll.rules.subjects import Subject

GOOD = """\
[run]
name = "nightly"
labels = { memory = "8GB" }
[[run.phases]]
name = "steady"
from = 2008-01-15T10:22:00+01:00
to = 2008-01-15T12:00:00+01:00
[hosts.SQLSRV01]
processors = 4
spindles = 2
[hosts.SQLSRV01.instances."2 E:"]
spindles = 6
"""


def read(tmp_path, text):
    path = tmp_path / "plimsoll.toml"
    path.write_text(text, encoding="utf-8")
    return load(path)


def test_facts_of_an_instance_go_before_those_of_its_host(tmp_path):
    facts = Facts(read(tmp_path, GOOD).facts(), {})
    assert facts(Subject("sqlsrv01", "2 E:"), "spindles") == 6
    assert facts(Subject("SQLSRV01", "0 C:"), "spindles") == 2
    assert facts.explain(Subject("OTHER", "0 C:"), "spindles") == "1 spindle (documented default)"
    with pytest.raises(UnknownFact, match="link_bits of OTHER is not known: give it in plimsoll"):
        facts(Subject("OTHER"), "link_bits")


@pytest.mark.parametrize(
    ("old", "new", "output"),
    [
        (
            "spindles = 6",
            "spindels = 6",
            'hosts.SQLSRV01.instances.2 E:.spindels: unknown setting (did you mean "spindles"?)',
        ),
        ("processors = 4", "processors = 0", "hosts.SQLSRV01.processors: input should be greater than 0"),
        ("12:00:00+01:00", "10:00:00+01:00", 'run.phases.1: phase "steady" ends before it begins'),
        ("10:22:00+01:00", "10:22:00", "run.phases.1.from: has no offset; write it like 2008-01-15T10:02:00+01:00"),
        ("[run]", "[run", "not valid TOML"),
    ],
)
def test_mistakes_name_the_setting(tmp_path, old, new, output):
    with pytest.raises(Unusable) as refused:
        read(tmp_path, GOOD.replace(old, new))
    assert output in str(refused.value)
