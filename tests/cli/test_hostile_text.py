"""Text from outside is never markup and never moves the cursor; invisible characters are shown as escapes."""

import json
import re
import subprocess
import sys
from unicodedata import category
from xml.etree import ElementTree

import pytest

HOSTILE = "a[/]b\n[bold]c\x1b[31m\x9b1m\r\u202ed\u2066\u200f\u061c\u200be\ufe0f\\"
SHOWN = r"a[/]b\n[bold]c\x1b[31m\x9b1m\r\u202ed\u2066\u200f\u061c\u200be\ufe0f" + "\\"
IN_LINES = SHOWN.replace(r"\n", "\n")


@pytest.fixture
def folder(tmp_path):
    """A log, a pack and a plimsoll.toml, all with hostile names and texts."""
    name = HOSTILE.replace("\n", "").replace("\r", "").replace("\\", "").replace("/", "")
    rows = [
        rf'"(PDH-CSV 4.0) (UTC)(0)","\\HOST{name}\Memory\Available MBytes","\\HOST{name}\Obj{name}(I{name})\C{name}"'
    ]
    rows += [
        f'"01/15/2008 10:{minute:02}:{second:02}.000","{5 + second}","1"'
        for minute in range(9)
        for second in (0, 15, 30, 45)
    ]
    (tmp_path / "log.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    text = json.dumps(HOSTILE)
    rule = {
        "id": "own",
        "signal": "own.signal",
        "healthy": "< 1 MB",
        "severity": "critical",
        "summary": HOSTILE,
        "why": HOSTILE,
        "sources": [{"document": HOSTILE, "place": HOSTILE, "quote": HOSTILE}],
    }
    signal = {
        "title": HOSTILE,
        "unit": "MB",
        "worse": "higher",
        "meaning": HOSTILE,
        "instances": "none",
        "sources": [{"path": r"\Memory\Available MBytes"}],
    }
    pack = {"pack": "own", "title": HOSTILE, "about": HOSTILE, "signals": {"own.signal": signal}, "rules": [rule]}
    (tmp_path / "own.yaml").write_text(json.dumps(pack), encoding="utf-8")
    (tmp_path / "plimsoll.toml").write_text(
        f"[run]\nname = {text}\nhosts = [{text}]\nlabels = {{ {text} = {text} }}\n[hosts.{text}]\nprocessors = 2\n"
        f"[rules.own]\nhealthy = '< 2 MB'\nreason = {text}\n",
        encoding="utf-8",
    )
    return tmp_path


def invisible(text):
    return {char for char in text if char != "\n" and (category(char)[0] == "C" or "\ufe00" <= char <= "\ufe0f")}


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        (("rules", "explain", "own", "--pack", "own.yaml"), IN_LINES),
        (("rules", "list", "--pack", "own.yaml"), SHOWN),
        (("rules", "check", "own.yaml"), "1 rule"),
        (("rules", "check", HOSTILE), SHOWN),
        (("rules", "counters", "--pack", "own.yaml", "--only", "own.yaml"), "Available MBytes"),
        (("review", ".", "--pack", "own.yaml"), SHOWN),
        (("review", ".", "--only", HOSTILE), SHOWN),
        (("review", ".", "--from", HOSTILE), SHOWN),
        (("review", ".", f"--{HOSTILE}"), ""),
        ((HOSTILE,), ""),
        (("show", "."), r"c\x1b[31m\x9b1m\u202ed"),
        (("show", HOSTILE), SHOWN),
        (("show", ".", "--zone", HOSTILE), SHOWN),
    ],
)
def test_no_command_prints_what_cannot_be_seen(plimsoll, folder, monkeypatch, command, shown):
    monkeypatch.chdir(folder)
    done = plimsoll(*command)
    assert done.status in (0, 2)
    assert shown in done.out + done.err
    assert invisible(done.out + done.err) == set()


def test_reports_for_people_show_it_and_json_keeps_it(plimsoll, folder):
    html, junit, document = (folder / name for name in ("report.html", "junit.xml", "review.json"))
    done = plimsoll(
        "review", folder, "--pack", folder / "own.yaml", "--out", html, "--junit", junit, "--json", document
    )
    assert done.status == 0
    page = html.read_text(encoding="utf-8")
    assert IN_LINES in page
    assert invisible(re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)) == set()
    (data,) = re.findall(r'<script[^>]*type="application/json"[^>]*>(.*?)</script>', page, flags=re.DOTALL)
    assert "\\\\u202e" in data
    assert invisible(json.dumps(json.loads(data), ensure_ascii=False)) == set()
    assert invisible(junit.read_text(encoding="utf-8")) == set()
    assert IN_LINES in "".join(ElementTree.parse(junit).getroot().itertext())
    assert json.loads(document.read_text(encoding="utf-8"))["run"]["name"] == HOSTILE


def test_a_reader_of_remarks_that_ends_does_not_change_the_status(folder):
    command = f"{sys.executable} -m plimsoll review {folder} --pack {folder}/own.yaml --fail-on critical"
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command} 2>&1 >/dev/null | true"], capture_output=True, check=False
    )
    assert done.returncode == 1
