"""Runs in a folder that computers share: commands give what they give on the embedded store."""

import json
import shutil

import pytest

from plimsoll.api.inputs import Inputs, read
from plimsoll.api.open_store import open_store
from plimsoll.hosts.run_to_store import run_to_store
from plimsoll.ingest.runs.load import load
from tests.cli.test_history import a_run

NIGHTS = 7
ZONE = "Europe/Berlin"


@pytest.fixture(scope="module")
def nights(tmp_path_factory):
    folder = tmp_path_factory.mktemp("nights")
    return [*(a_run(folder, night) for night in range(NIGHTS)), a_run(folder, NIGHTS, cpu=47.0)]


@pytest.fixture(scope="module")
def stores(tmp_path_factory, nights):
    """The same runs in an embedded store and in a folder of runs."""
    place = tmp_path_factory.mktemp("stores")
    (place / "embedded").mkdir(mode=0o700)
    named = [str(place / "embedded"), f"runs:{place / 'shared'}"]
    for store in named:
        with open_store(store, make=True) as opened:
            for night, log in enumerate(nights):
                content = read(Inputs((str(log),), zone=ZONE))
                load(opened, run_to_store(content, f"night: {night}", {"build": "7"}), content.logs)
    return named


@pytest.mark.parametrize(
    "requests",
    [
        ("runs", "list"),
        ("runs", "show", "night: 3"),
        ("review", "run:night: 7"),
        ("compare", *(f"run:night: {night}" for night in (0, 1, 2, NIGHTS)), "--baseline", 3),
        ("runs", "trend", "--like", "build=7"),
    ],
    ids=lambda values: " ".join(values[:2]),
)
def test_a_command_gives_what_it_gives_on_the_embedded_store(plimsoll, stores, tmp_path, requests):
    entries = []
    for at, store in enumerate(stores):
        written = tmp_path / f"{at}.json"
        done = plimsoll(*requests, "--store", store, "--json", written)
        document = json.loads(written.read_text())
        if isinstance(document, dict):
            document.pop("created", None)
        entries.append((done.status, done.out.replace(store.removeprefix("runs:"), "STORE"), document))
    assert entries[0] == entries[1]
    assert "night" in json.dumps(entries[0][2])


def test_a_run_is_deleted_by_its_command_or_as_a_folder(plimsoll, nights, tmp_path):
    store = f"runs:{tmp_path / 'shared'}"
    for night in (0, 1):
        plimsoll("ingest", nights[night], "--run", f"night {night}", "--zone", ZONE, "--store", store)
    assert plimsoll("ingest", nights[0], "--run", "again", "--zone", ZONE, "--store", store).status == 2
    (tmp_path / "shared" / "night 0" / "report.html").write_text("of this run")
    assert plimsoll("runs", "delete", "night 0", "--store", store).status == 0
    shutil.rmtree(tmp_path / "shared" / "night 1")
    assert [path.name for path in (tmp_path / "shared").iterdir() if path.name[0] != "."] == ["plimsoll-runs.json"]
    # One that is there may be named without `runs:`.
    assert "has no runs" in plimsoll("runs", "list", "--store", tmp_path / "shared").out


def test_what_is_no_folder_of_runs_is_refused(plimsoll, nights, tmp_path):
    for text in ("missing", "other"):
        assert "is no folder of runs" in plimsoll("runs", "list", "--store", f"runs:{tmp_path / text}").err
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "letter.txt").write_text("not of Plimsoll")
    done = plimsoll("ingest", nights[0], "--run", "night", "--zone", ZONE, "--store", f"runs:{tmp_path / 'other'}")
    assert (done.status, "not empty" in done.err) == (2, True)
    assert "no live samples" in plimsoll("up", "--store", f"runs:{tmp_path / 'other'}").err
