"""A review on a terminal: the answer on one screen, words whole, tables that fit; the rest by choice."""

import re
from itertools import cycle
from pathlib import Path

import pytest
from big_log import write_big_log

from plimsoll.demo.runs import write_runs
from tests.cli.terminals import on_a_terminal

EXAMPLES = Path(__file__).parents[2] / "examples"
RUNS = [
    *sorted(path.relative_to(EXAMPLES) for path in EXAMPLES.glob("*/trouble"))[::2],
    *(Path(text) / "healthy" for text in ("windows-today", "messaging")),
]
MARKED = re.compile("[◆▲○] (critical|warning|info)  ")


def twenty_hosts(folder: Path) -> Path:
    """Logs of twenty hosts in trouble."""
    text = (EXAMPLES / "windows-today" / "trouble" / "APPSRV01.csv").read_text(encoding="utf-8")
    for number in range(20):
        (folder / f"{number}.csv").write_text(text.replace("APPSRV01", f"APPSRV{number:02}"), encoding="utf-8")
    return folder


def refuse_misfits(lines: list[str], width: int, most: int) -> None:
    """Each line fits, but for a word that is wider; none begins where a table or a word was cut."""
    assert len(lines) <= most
    assert [line for line in lines if len(line) > width and len(line.split()) > 1] == []
    assert [line for line in lines if len(line.strip()) == 1] == []
    assert lines[-1].lstrip().startswith("--details prints the rest; --out")


@pytest.mark.parametrize(("run", "width"), [*zip(RUNS, cycle((80, 120)), strict=False)], ids=str)
def test_an_example_is_told_on_one_screen(run, width):
    hosts = len(list((EXAMPLES / run).glob("*.csv")))
    refuse_misfits(on_a_terminal(width, "review", EXAMPLES / run), width, 39 + hosts)


def test_runs_of_several_hosts_are_told_on_one_screen(tmp_path):
    for folder, width in zip(write_runs(tmp_path / "demo"), (120, 80), strict=True):
        refuse_misfits(on_a_terminal(width, "review", folder), width, 42)
    (tmp_path / "many").mkdir()
    lines = on_a_terminal(80, "review", twenty_hosts(tmp_path / "many"))
    refuse_misfits(lines, 80, 60)
    assert any("on 20 of 20 hosts" in line for line in lines)


def test_lines_of_a_paragraph_hang(tmp_path):
    lines = on_a_terminal(80, "review", EXAMPLES / "windows-today" / "trouble")
    assert lines[0].startswith("Not healthy.")
    assert lines[1].startswith("  ")
    marked = [at for at, line in enumerate(lines) if MARKED.match(line)]
    assert len(marked) > 3
    assert all(lines[at + 1].startswith("  ") or at + 1 in marked for at in marked[:3])


def test_details_have_all_of_it(tmp_path):
    log = EXAMPLES / "windows-today" / "trouble"
    brief, all_of_it = (on_a_terminal(100, "review", log, *result) for result in ((), ("--details",)))
    assert brief[0] == all_of_it[0]
    assert "Bottleneck" in all_of_it
    assert "Bottleneck" not in brief
    assert len([item for item in all_of_it if MARKED.match(item)]) >= len(
        [item for item in brief if MARKED.match(item)]
    )
    assert all_of_it[-1].startswith(("Judged by the packs", "  "))


def test_what_takes_long_says_so_meanwhile(tmp_path):
    write_big_log(log := tmp_path / "big.csv", rows=2500, columns=1000)
    whole = "\n".join(on_a_terminal(100, "show", log))
    assert re.search(r"Reading 1 file, \d+ MB \d+ % read \d:\d\d:\d\d", whole)
    small = "\n".join(on_a_terminal(100, "show", next((EXAMPLES / "windows-today" / "trouble").glob("*.csv"))))
    assert "Reading" not in small
