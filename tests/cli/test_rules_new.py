"""`plimsoll rules new`: an example pack that is right, beside the schema that its first line names."""

import json

import pytest
import yaml
from jsonschema import Draft7Validator


@pytest.mark.parametrize("name", ["mine.yaml", "Our Shop (2).yml", "disk.yaml", "größe.yaml", "_.yaml"])
def test_what_is_written_is_right_and_its_cases_come_out(plimsoll, tmp_path, name):
    """Whatever the file is called, and beside the packs that ship."""
    path = tmp_path / name
    done = plimsoll("rules", "new", path)
    assert (done.status, done.err) == (0, "")
    assert plimsoll("rules", "check", path).out == "ok: 2 rules in 1 pack\n"
    assert plimsoll("rules", "test", path).out == "7 cases of 2 rules, 0 failed\n"


def test_it_shows_what_a_pack_can_say(plimsoll, tmp_path):
    path = tmp_path / "mine.yaml"
    plimsoll("rules", "new", path)
    data = yaml.load(path.read_text(encoding="utf-8"), yaml.CSafeLoader)
    assert list(data["signals"]) == ["mine.exceptions"]
    of_its_own, shipped = data["rules"]
    assert of_its_own["signal"] == "mine.exceptions"
    assert shipped["signal"] == "disk.read_latency"
    assert shipped["healthy"] == "<= 25 ms"
    assert str(path) in path.read_text(encoding="utf-8")


def test_the_first_line_names_the_schema_beside_it(plimsoll, tmp_path):
    path = tmp_path / "mine.yaml"
    plimsoll("rules", "new", path)
    first = path.read_text(encoding="utf-8").splitlines()[0]
    assert first.startswith("# yaml-language-server: $schema=")
    schema = json.loads((tmp_path / first.partition("=")[2]).read_text(encoding="utf-8"))
    Draft7Validator(schema).validate(yaml.load(path.read_text(encoding="utf-8"), yaml.CSafeLoader))


def test_a_second_pack_beside_it(plimsoll, tmp_path):
    one, two = tmp_path / "one.yaml", tmp_path / "two.yaml"
    assert plimsoll("rules", "new", one).status == 0
    (tmp_path / "plimsoll-pack.schema.json").write_text("""{"title": "A pack of Plimsoll's", "of": "last year"}""")
    assert plimsoll("rules", "new", two).status == 0
    assert "last year" not in (tmp_path / "plimsoll-pack.schema.json").read_text(encoding="utf-8")
    assert plimsoll("rules", "check", one, two).out == "ok: 4 rules in 2 packs\n"


@pytest.mark.parametrize(
    ("name", "there", "said"),
    [
        ("mine.yaml", "mine.yaml", "mine.yaml: exists already, and is not written over; name another file"),
        ("mine.txt", None, "a pack is a .yaml file; write it like mine.yaml"),
        ("mine", None, "write it like mine.yaml"),
        ("mine.yaml", "plimsoll-pack.schema.json", "is not Plimsoll's, and is not written over"),
    ],
)
def test_nothing_is_written_over(plimsoll, tmp_path, name, there, said):
    if there:
        (tmp_path / there).write_text("precious")
    done = plimsoll("rules", "new", tmp_path / name)
    assert (done.status, done.out) == (2, "")
    assert said in done.err
    assert done.err.count("\n") == 1
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == ([(there, "precious")] if there else [])


def test_a_folder_of_logs_with_a_pack_is_still_one(plimsoll, tmp_path):
    """Neither the pack nor its schema is taken for a log."""
    (tmp_path / "a.csv").write_text(
        '"(PDH-CSV 4.0) (UTC)(0)","\\\\A\\Memory\\Available Bytes"\n'
        + "".join(f'"03/02/2026 09:{minute:02}:00.000","8000000000"\n' for minute in range(30))
    )
    plimsoll("rules", "new", tmp_path / "mine.yaml")
    done = plimsoll("review", tmp_path, "--pack", tmp_path / "mine.yaml")
    assert done.status == 0
    assert "schema" not in done.out + done.err
