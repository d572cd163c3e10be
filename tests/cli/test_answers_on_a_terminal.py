"""Comparisons and capacities on a terminal: one screen, and tables of which no row is wrapped."""

import pytest

from plimsoll.demo.runs import write_runs
from tests.cli.terminals import on_a_terminal


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    return write_runs(tmp_path_factory.mktemp("demo"))


def rows_of(lines: list[str], heading: str) -> list[str]:
    """The rows of the table under a heading."""
    first = next(at for at, line in enumerate(lines) if heading in line.split("  ")) + 1
    return lines[first : lines.index("", first) if "" in lines[first:] else None]


@pytest.mark.parametrize("width", [80, 120])
def test_a_comparison_is_told_on_one_screen(runs, width):
    lines = on_a_terminal(width, "compare", *runs)
    assert lines[0].startswith("Worse.")
    assert len(lines) <= 60
    assert [line for line in lines if len(line) > width] == []
    rows = rows_of(lines, "Worse")
    assert rows[1].split("  ")[1] == "Disk reads"
    assert all("SQLSRV01" in row or "OCSFE0" in row for row in rows[1:9])  # a row each
    assert lines[-1].startswith("--details prints the rest")


def test_the_details_of_a_comparison_have_all_of_it(runs):
    brief, all_of_it = (on_a_terminal(120, "compare", *runs, *result) for result in ((), ("--details",)))
    assert brief[0] == all_of_it[0]
    assert "No difference that matters" not in brief
    assert {"Load", "No difference that matters", "Beyond the means"} <= {*all_of_it}
    assert [item for item in all_of_it if len(item) > 120] == []


@pytest.mark.parametrize("width", [80, 120])
def test_a_capacity_is_told_on_one_screen(runs, width):
    lines = on_a_terminal(width, "capacity", runs[0])
    assert len(lines) <= 40
    assert [line for line in lines if len(line) > width] == []
    rows = rows_of(lines, "Resource")
    assert all(" of SQLSRV01" in row or " of OCSFE0" in row for row in rows)  # a row each
