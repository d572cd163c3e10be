"""Generated pages equal their generator's output, and pages name only files that exist."""

import re
import runpy
from pathlib import Path
from textwrap import dedent

import yaml

from plimsoll.cli.cli import COMMANDS, load_command
from plimsoll.hosts import settings as run_settings
from plimsoll.rules.load import load as load_rules
from plimsoll.up import settings as up_settings
from tests.each import run_each

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
BUILD = runpy.run_path(str(DOCS / "build.py"))
PAGES = BUILD["PAGES"]
WRITTEN = [
    "README.md",
    "CONTRIBUTING.md",
    *(f"docs/{path.name}" for path in sorted(DOCS.glob("*.md")) if path.name not in ("commands.md", "signals.md")),
    *(f"docs/guides/{path.name}" for path in sorted((DOCS / "guides").glob("*.md"))),
]
SOURCES = ("tests", "docs", "plimsoll", "rules", "dashboards", "telegraf", "install", "bench", "ingest", "examples")
ROOMS = (*(path.name for path in (ROOT / "plimsoll").iterdir() if path.is_dir()), "live", "grafana", "diagnosis")
# A path from the root of the checkout, also one that lacks `plimsoll/` in front of a room.
PATH = re.compile(rf"(?<![\w./\\*{{}}-])(?:{'|'.join(sorted({*SOURCES, *ROOMS}))})/[\w./*-]*")
LINK = re.compile(r"\]\((?!https?:|#)([^)#]+)[^)]*\)")
CODE = re.compile(r"^ *```.*?^ *```", re.M | re.S)
PROSE = re.compile(r"[^\s|]+")
# What the reader is told to add: docs/new-format.md.
NEW = re.compile("json_lines|json-lines")


def test_generated_pages_are_up_to_date():
    old = [name for name, written in PAGES.items() if (DOCS / name).read_text(encoding="utf-8") != written()]
    assert old == [], "run: python docs/build.py"


def test_hand_written_pages_have_at_most_25000_words():
    """Pages are for looking up; what code or data can tell is generated."""
    pages = [(ROOT / name).read_text("utf-8") for name in WRITTEN if name != "CONTRIBUTING.md"]
    texts = [page.partition("<!-- The rest is generated")[0] for page in pages]
    words = [word for text in texts if "<!-- Generated from" not in text for word in PROSE.findall(CODE.sub("", text))]
    assert len(words) <= 25_000


def test_no_page_is_left_of_what_is_no_longer_written():
    assert BUILD["stale"]() == [], "run: python docs/build.py"


@run_each(WRITTEN, str)
def test_paths_of_a_page_exist(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    named = {result.rstrip("./") for result in PATH.findall(LINK.sub("", text)) if not NEW.search(result)}
    assert sorted(path for path in named if not any(ROOT.glob(path))) == []
    linked = {(ROOT / name).parent / result for result in LINK.findall(re.sub("`[^`]*`", "", text))}
    assert sorted(str(path) for path in linked if not path.exists()) == []


@run_each(WRITTEN, str)
def test_headings_that_a_page_links_to_exist(name):
    for target, heading in re.findall(r"\]\(([\w./-]*)#([\w-]+)\)", (ROOT / name).read_text(encoding="utf-8")):
        linked = ((ROOT / name).parent / target if target else ROOT / name).read_text(encoding="utf-8")
        headings = {
            re.sub(r"[^\w -]", "", line.lower()).replace(" ", "-") for line in re.findall(r"^#+ (.*)", linked, re.M)
        }
        assert heading in headings, f"{target}#{heading}"


@run_each(WRITTEN, str)
def test_commands_of_a_page_have_the_options_that_it_shows(name):
    """Those of the README and the guides are also run: tests/test_readme.py."""
    for line in calls((ROOT / name).read_text("utf-8")):
        words = line.partition(" -- ")[0].partition(" #")[0].split()[1:]
        group = load_command(words[0]) if words[0] in COMMANDS else None
        commands = getattr(group, "commands", {})
        command = commands.get(words[1]) if commands and len(words) > 1 else group
        shown = {word.partition("=")[0] for word in words if re.match("--[a-z]", word)}
        if command is None or hasattr(command, "commands"):
            assert not shown - {"--help"}, line
        else:
            assert shown <= {option for parameter in command.params for option in parameter.opts} | {"--help"}, line


def calls(text):
    """The calls of plimsoll in a page's blocks, and in its text."""
    blocks = "".join(CODE.findall(text)).replace("\\\n", " ")
    yield from (line.strip() for line in blocks.splitlines() if re.match(" *plimsoll [a-z]", line))
    yield from (" ".join(call.split()) for call in re.findall(r"`(plimsoll\s[a-z][^`]*)`", CODE.sub("", text)))


SETTINGS_OF_RUNS = ("docs/settings.md", "docs/guides/change-a-limit.md", "docs/guides/nightly-test.md")
SETTINGS_OF_UP = tuple(
    f"docs/{name}.md"
    for name in ("alerts", "checks", "exporters", "security", "guides/notifications", "guides/watch-servers")
)


def tables(name):
    """The TOML of a page."""
    return [
        dedent(block) for block in re.findall(r"^ *```toml\n(.*?)^ *```", (ROOT / name).read_text("utf-8"), re.M | re.S)
    ]


@run_each(SETTINGS_OF_RUNS, str)
def test_settings_of_runs_are_taken(name):
    catalogue = load_rules()
    assert tables(name)
    for block in tables(name):
        run_settings.parse(block, Path(name)).overrides(Path(name), catalogue.rules, catalogue.signals)


@run_each(SETTINGS_OF_UP, str)
def test_settings_of_up_are_taken(name):
    assert tables(name)
    for block in tables(name):
        up_settings.parse(block.encode(), Path(name))


def test_ci_runs_modules_that_exist():
    """The first lines of .ci/run are not executed by tests."""
    modules = re.findall(r"python3 -m ([\w.]+)", (ROOT / ".ci" / "run").read_text(encoding="utf-8"))
    assert [module for module in modules if not (ROOT / f"{module.replace('.', '/')}.py").is_file()] == []
    assert len(modules) == 3


def test_every_difference_names_a_test_that_exists():
    groups = yaml.safe_load((DOCS / "compatibility.yaml").read_text("utf-8"))
    for held_by in (row["held_by"] for group in groups for row in group["rows"]):
        path, _, name = held_by.partition("::")
        assert (ROOT / path).exists(), held_by
        assert not name or f"def {name}(" in (ROOT / path).read_text("utf-8"), held_by


def test_every_promise_of_safety_names_a_test_that_exists():
    promises = yaml.safe_load((DOCS / "security.yaml").read_text("utf-8"))["promises"]
    assert len(promises) > 50
    for promise in promises:
        file = ""
        assert promise["tests"], promise["promise"]
        for test in promise["tests"]:
            path, _, name = test.rpartition("::")
            file = path or file
            assert f"def {name}(" in (ROOT / file).read_text("utf-8"), f"{file}::{name}"
