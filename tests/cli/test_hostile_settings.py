"""Packs, files of names and plimsoll.toml that are made to take time or memory are refused at once, in one line."""

import os
import random

import pytest
from settings_damage import FILES, damaged

LOG = '"(PDH-CSV 4.0) (UTC)(0)","\\\\H\\System\\Threads"\n"01/15/2008 10:00:00.000","7"\n'
BOMB = "a0: &a0 [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"a{at}: &a{at} [{','.join([f'*a{at - 1}'] * 9)}]\n" for at in range(1, 12)
)
CHAIN = "a0: &a0 {x: 1}\n" + "".join(f"a{at}: &a{at} {{<<: *a{at - 1}, y: 1}}\n" for at in range(1, 3000))
YAML = {
    "an alias bomb": (BOMB, 5, "more than 50,000 values, counting an alias as all it stands for"),
    "a chain of aliases": (CHAIN, 49, "nested too deeply: more than 50 levels"),
    "a part of itself": ("a: 1\nb: &b [*b]\n", 2, "a part of it holds itself, by the alias *b"),
    "3,000 brackets": ("a:\n  " + "[" * 3000, 2, "nested too deeply: more than 50 levels"),
    "200,000 brackets": ("[" * 200_000, 1, "nested too deeply: more than 50 levels"),
    "200,000 dashes": ("- " * 200_000, 1, "nested too deeply: more than 50 levels"),
    "200,000 values": ("a:\n" + "- x\n" * 200_000, 49_999, "more than 50,000 values"),
    "5,000 digits": ("a: 1\nb: " + "1" * 5000, 2, "a number of more than 300 digits"),
    "digits to the base 60": ("a: " + "1:" * 100_000 + "1", 1, "a number of more than 300 digits"),
    "2 MB": ("# a\n" * 500_000, 262_145, "is larger than 1 MB"),
}
TOML = {
    "5,000 brackets": ("a = 1\nb = " + "[" * 5000, 2, "nested too deeply: more than 50 levels"),
    "5,000 braces": ("a = " + "{a = " * 5000, 1, "nested too deeply: more than 50 levels"),
    "brackets behind texts": ("a = ['''\n[''', \"[\", " + "[\n" * 5000, 51, "nested too deeply: more than 50 levels"),
    "5,000 digits": ("\n\na = " + "1" * 5000, 3, "a number or name of more than 300 characters"),
    "a name of 5,000 parts": ("[run]\n" + "a." * 5000 + "a = 1", 2, "a name of more than 50 parts"),
    "2 MB": ("# a\n" * 500_000, 262_145, "is larger than 1 MB"),
}


@pytest.fixture
def called(plimsoll, tmp_path):
    """Calls a command with a file of a kind."""
    log = tmp_path / "log.csv"
    log.write_text(LOG)

    def call(kind, path):
        calls = {
            "pack": ("rules", "list", "--only", path),
            "names": ("show", log, "--names", path),
            "settings": ("review", log, "--config", path),
        }
        return plimsoll(*calls[kind])

    return call


@pytest.mark.parametrize(
    ("kind", "text", "line", "output"),
    [
        *(pytest.param(kind, *case, id=f"{kind}: {name}") for kind in ("pack", "names") for name, case in YAML.items()),
        *(pytest.param("settings", *case, id=f"settings: {name}") for name, case in TOML.items()),
    ],
)
def test_a_file_beyond_a_limit_is_refused_with_its_line(called, tmp_path, kind, text, line, output):
    path = tmp_path / ("own.yaml" if kind != "settings" else "own.toml")
    path.write_text(text)
    done = called(kind, path)
    assert (done.status, done.out) == (2, "")
    (only,) = done.err.splitlines()
    assert only.startswith(f"plimsoll: {path}:{line}:")
    assert output in only


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such files")
@pytest.mark.parametrize("kind", ["pack", "names", "settings"])
@pytest.mark.parametrize("make", [lambda path: path.symlink_to("/dev/zero"), os.mkfifo, os.mkdir])
def test_what_is_no_regular_file_is_not_read(called, tmp_path, kind, make):
    path = tmp_path / "own.yaml"
    make(path)
    done = called(kind, path)
    assert (done.status, done.out) == (2, "")
    (only,) = done.err.splitlines()
    assert only.startswith(f"plimsoll: {path}: is not a regular file but a folder, device or pipe; name a file")


def test_aliases_within_the_limits_are_read(called, tmp_path):
    path = tmp_path / "own.yaml"
    signal = "title: T, unit: '%', worse: higher, meaning: m, instances: none"
    path.write_text(
        "pack: own\ntitle: T\nabout: a\nsignals:\n"
        f"  own.one: {{{signal}, sources: &sources [{{path: '\\Memory\\Available MBytes'}}]}}\n"
        f"  own.two: {{{signal}, sources: *sources}}\nrules: []\n"
    )
    assert called("pack", path).status == 0


def test_of_many_mistakes_the_first_hundred_are_told(called, tmp_path):
    path = tmp_path / "own.yaml"
    path.write_text("rules:\n" + "- {odd: 1}\n" * 10_000)
    lines = called("pack", path).err.splitlines()
    assert len(lines) == 101
    assert lines[-1] == "plimsoll: more mistakes follow; correct these first"


@pytest.mark.parametrize("seed", range(60))
def test_damage_is_refused_or_read(called, tmp_path, seed):
    random_ = random.Random(seed)
    kind = random_.choice([*FILES])
    path = tmp_path / ("own.yaml" if kind != "settings" else "own.toml")
    path.write_bytes(damaged(random_.choice(FILES[kind]), random_))
    assert called(kind, path).status in (0, 2)
