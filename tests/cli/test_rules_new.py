"""`plimsoll rules new`: an example pack that is right, beside the schema that its first line names."""

import json

import pytest
import yaml
from jsonschema import Draft7Validator


@pytest.mark.parametrize("name", ["mine.yaml", "Our Shop (2).yml", "disk.yaml", "größe.yaml", "_.yaml"])
def test_what_is_written_is_right_and_its_cases_come_out(plimsoll, tmp_path, name):
    """The pack is valid under any file name, and beside the shipped packs."""
    path = tmp_path / name
    done = plimsoll("rules", "new", path)
    assert (done.status, done.err) == (0, "")
    assert plimsoll("rules", "check", path).out == "ok: 2 rules in 1 pack\n"
    assert plimsoll("rules", "test", path).out == "7 cases of 2 rules, 0 failed\n"


def test_the_first_line_names_the_schema_beside_it(plimsoll, tmp_path):
    path = tmp_path / "mine.yaml"
    plimsoll("rules", "new", path)
    first = path.read_text(encoding="utf-8").splitlines()[0]
    assert first.startswith("# yaml-language-server: $schema=")
    schema = json.loads((tmp_path / first.partition("=")[2]).read_text(encoding="utf-8"))
    Draft7Validator(schema).validate(yaml.load(path.read_text(encoding="utf-8"), yaml.CSafeLoader))


@pytest.mark.parametrize(
    ("name", "present", "output"),
    [
        ("mine.yaml", "mine.yaml", "mine.yaml: exists already, and is not written over; name another file"),
        ("mine.txt", None, "a pack is a .yaml file; write it like mine.yaml"),
        ("mine", None, "write it like mine.yaml"),
        ("mine.yaml", "plimsoll-pack.schema.json", "is not Plimsoll's, and is not written over"),
    ],
)
def test_nothing_is_written_over(plimsoll, tmp_path, name, present, output):
    if present:
        (tmp_path / present).write_text("precious")
    done = plimsoll("rules", "new", tmp_path / name)
    assert (done.status, done.out) == (2, "")
    assert output in done.err
    assert done.err.count("\n") == 1
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == (
        [(present, "precious")] if present else []
    )


LOG = r"""
"(PDH-CSV 4.0) (UTC)(0)","\\H\Shop Orders(web)\Orders/sec","\\H\Shop Orders(_Total)\It's late (ms)","\\H\Memory\Available Bytes"
"01/15/2008 10:00:00.000","2","3","8000000000"
"01/15/2008 10:00:15.000","2","3","8000000000"
""".strip()


@pytest.fixture
def shop(tmp_path):
    """A log with two counters of a program that Plimsoll does not know."""
    log = tmp_path / "shop.csv"
    log.write_text(LOG + "\n")
    return log


def test_a_signal_for_each_counter_of_a_log_that_none_reads(plimsoll, tmp_path, shop):
    pack = tmp_path / "packs" / "shop.yaml"
    pack.parent.mkdir()
    done = plimsoll("rules", "new", pack, "--from", shop)
    assert (done.status, done.err) == (0, "")
    data = yaml.load(pack.read_text(encoding="utf-8"), yaml.CSafeLoader)
    result = {
        name: (datum["unit"], datum.get("instances", "none"), datum["sources"])
        for name, datum in data["signals"].items()
    }
    assert result == {
        "shop.it_s_late_ms": ("ms", "none", ["\\Shop Orders(_Total)\\It's late (ms)"]),
        "shop.orders_per_sec": ("/s", "each", ["\\Shop Orders(*)\\Orders/sec"]),
    }
    assert plimsoll("rules", "check", pack).out == "ok: 0 rules in 1 pack\n"


def test_a_rule_on_such_a_signal_judges_the_log(plimsoll, tmp_path, shop):
    pack = tmp_path / "packs" / "shop.yaml"
    pack.parent.mkdir()
    plimsoll("rules", "new", pack, "--from", shop, "--counter", "shop orders*orders/sec")
    text = pack.read_text(encoding="utf-8")
    assert "late" not in text
    rule = (
        'rules: [{id: shop-idle, signal: shop.orders_per_sec, healthy: "> 5", severity: info, summary: No orders., '
        "sources: [{document: ours, place: here}]}]"
    )
    pack.write_text(text.replace("rules: []", rule), encoding="utf-8")
    done = plimsoll("review", shop, "--pack", pack, "--json", tmp_path / "found.json")
    assert done.status == 0
    (result,) = (
        load for load in json.loads((tmp_path / "found.json").read_text())["rules"] if load["rule"] == "shop-idle"
    )
    assert (result["state"], result["instance"]) == ("crossed", "web")


@pytest.mark.parametrize(
    ("counter", "output"),
    [("Nothing*", "no counter without a signal matches Nothing*"), ("Memory*", "matches Memory*; plimsoll show")],
)
def test_counters_that_are_not_there_are_an_error(plimsoll, tmp_path, shop, counter, output):
    done = plimsoll("rules", "new", tmp_path / "mine.yaml", "--from", shop, "--counter", counter)
    assert done.status == 2
    assert output in done.err
    assert not (tmp_path / "mine.yaml").exists()
