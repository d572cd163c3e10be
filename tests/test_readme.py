"""The commands that README.md and the guides show work as they stand there; what README.md and CONTRIBUTING.md name exists.

Every line of its ```sh blocks is either a call of start.py, which is compared with what start.py takes
(running it here would run these tests again), or a call of plimsoll, which is run: in the order of the
page, in one folder, after `plimsoll demo`, which alone is run as a program of its own. A command that is meant to end otherwise says so behind it:
`# exit status 1`.
"""

import itertools
import os
import re
import runpy
import shlex
import shutil
import subprocess
import sysconfig
import time
import tomllib
from pathlib import Path

import pytest

from plimsoll.notify.delivery import make_sender
from tests.conftest import free_port

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


GUIDES = sorted((ROOT / "docs" / "guides").glob("*.md"))


def lines() -> list[str]:
    pages = [README, *(path.read_text(encoding="utf-8") for path in GUIDES)]
    blocks = "".join("".join(re.findall(r"^ *```sh\n(.*?)^ *```", page, re.M | re.S)) for page in pages)
    commands = [line.strip() for line in blocks.replace("\\\n", " ").splitlines() if line.strip()]
    return [*dict.fromkeys(commands)]


LINES = lines()
START = [line for line in LINES if line.startswith("python3 start.py")]
PLIMSOLL = [line for line in LINES if line.startswith("plimsoll ")]


def run(line: str, folder: Path) -> "subprocess.CompletedProcess[str]":
    program = shutil.which("plimsoll", path=sysconfig.get_path("scripts"))
    assert program, "plimsoll is not installed in this environment"
    command = [program, *shlex.split(line, comments=True)[1:]]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, encoding="utf-8", check=False)


@pytest.fixture(scope="module")
def after_the_demo(tmp_path_factory):
    """The folder the page's commands are run in."""
    folder = tmp_path_factory.mktemp("readme")
    with pytest.MonkeyPatch.context() as patch:
        for variable in ("INFLUX_URL", "INFLUX_TOKEN"):
            patch.delenv(variable, raising=False)
        demo = run("plimsoll demo", folder)
        assert demo.returncode == 0, demo.stderr
        yield folder


def test_every_line_is_a_command_this_test_knows():
    assert sorted(START + PLIMSOLL) == sorted(LINES)


def test_start_py_takes_what_the_page_gives_it_and_the_page_shows_all_it_takes():
    usage = runpy.run_path(str(ROOT / "start.py"))["USAGE"]
    rows = [shlex.split(line, comments=True)[2:] for line in START]
    assert [] in rows
    result = set(re.findall(r"(?:--)?\b[a-z-]+", usage.partition("start.py")[2]))
    assert {arguments[0] for arguments in rows if arguments} <= result
    assert [word for word in result if word not in README] == []


@pytest.fixture(scope="module")
def started(after_the_demo):
    """Starts a line as a program of its own, which runs until the end of the page."""
    processes = []

    def start(line):
        program = shutil.which("plimsoll", path=sysconfig.get_path("scripts"))
        assert program
        command = [program, *shlex.split(line)[1:], "--listen", f"127.0.0.1:{free_port()}"]
        environment = os.environ | {"XDG_DATA_HOME": str(after_the_demo / "data")}
        process = subprocess.Popen(command, cwd=after_the_demo, env=environment, stdout=subprocess.PIPE, text=True)
        processes.append(process)
        assert process.stdout
        assert any("Ctrl-C" in result for result in process.stdout)

    yield start
    for process in processes:
        process.terminate()
        process.communicate()


@pytest.fixture
def called(plimsoll, after_the_demo, monkeypatch):
    """Calls a line in this process, in the folder of the demo."""
    monkeypatch.chdir(after_the_demo)
    monkeypatch.setenv("XDG_DATA_HOME", str(after_the_demo / "data"))
    return lambda line: plimsoll(*shlex.split(line, comments=True)[1:])


@pytest.mark.parametrize("line", PLIMSOLL)
def test_plimsoll_command_works(called, started, after_the_demo, line):
    expected = re.search(r"# exit status (\d)", line)
    words = shlex.split(line, comments=True)
    if words[1:] == ["up"]:
        started(line)
        return
    done = called(line)
    end = time.monotonic() + 300  # Telegraf collects every ten seconds
    while words[2:] == ["live:"] and done.status and time.monotonic() < end:
        time.sleep(1)
        done = called(line)
    assert done.status == (int(expected[1]) if expected else 0), done.err
    for option, value in itertools.pairwise(words):
        if option in ("--out", "--json") and value != "-":
            assert (after_the_demo / value).exists(), f"{option} wrote nothing"


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md"])
def test_paths_that_a_page_names_exist(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    shell = "".join(re.findall(r"^```sh\n(.*?)^```", text, re.M | re.S)) if page == "CONTRIBUTING.md" else ""
    named = {
        *re.findall(r"\]\(([^)#:]+)", text),  # links
        *re.findall(r"`([\w.*-]+/[\w./*-]*)`", text),
        *re.findall(r"^\| `([\w.-]+)` \|", text, re.M) * (page == "README.md"),  # the last table has files as well
        *re.findall(r"[\w.-]+/[\w./-]+", shell),
    }
    named = {path for path in named if not path.startswith(("demo-run/", "build/"))}  # what commands write
    assert [path for path in sorted(named) if not any(ROOT.glob(path))] == []


def test_the_arrows_between_rooms_are_those_that_are_checked():
    layers = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"][0]["layers"]
    assert " > ".join(layer.replace(" | ", ", ") for layer in layers) in (ROOT / "CONTRIBUTING.md").read_text()


def test_settings_that_the_page_quotes_are_taken(called, after_the_demo):
    (quoted,) = re.findall(r"^```toml\n(.*?)^```", README, re.M | re.S)
    folder = shutil.copytree(after_the_demo / "demo-run" / "8GB", after_the_demo / "changed")
    (folder / "plimsoll.toml").write_text(quoted, encoding="utf-8")
    done = called("plimsoll review changed --json changed.json")
    assert done.status == 0, done.err
    reason = re.findall(r'reason = "(.*)"', quoted)[0]
    assert reason in (after_the_demo / "changed.json").read_text(encoding="utf-8")


def test_addresses_of_the_cookbook_are_taken():
    page = (ROOT / "docs" / "guides" / "notifications.md").read_text(encoding="utf-8")
    examples = {
        "BOT_TOKEN": "123456789:abcdefghijklmnopqrstuvwxyz012345678",
        "CHAT_ID": "12345",
        "HOST": "hooks.example.org",
        "workflows/...": "workflows/0123456789abcdef/triggers/manual/paths/invoke?sig=abc",
    }
    placeholder = re.compile("|".join(map(re.escape, examples)))
    table = re.findall(r"^\| [^|]+ \| [^|]*?`([a-z]+://[^`]+)`", page, re.M)
    assert len(table) == 9
    for url in table:
        assert make_sender(placeholder.sub(lambda match: examples[match[0]], url), "notify.team.url")
