"""A breach of a processor or memory limit names the processes that used most while it lasted."""

import json

import pytest

CPU = r"Processor(_Total)\% Processor Time"
MEMORY = r"Memory\Available Bytes"
PHASES = """
[[run.phases]]
name = "ramp-up"
from = 2008-01-15T10:00:00Z
to = 2008-01-15T10:02:00Z
[[run.phases]]
name = "steady"
from = 2008-01-15T10:02:00Z
to = 2008-01-15T10:30:00Z
"""


@pytest.fixture
def run(plimsoll, tmp_path):
    """Reviews columns given by minute, half an hour of them."""

    def call(columns, host="WEB01", toml=""):
        names = ",".join(rf'"\\{host}\{path}"' for path in columns)
        rows = [f'"(PDH-CSV 4.0) (UTC)(0)",{names}']
        for s in range(0, 1800, 10):
            values = (value(s // 60) for value in columns.values())
            cells = ",".join('" "' if value is None else f'"{value}"' for value in values)
            rows.append(f'"01/15/2008 10:{s // 60:02}:{s % 60:02}.000",{cells}')
        (tmp_path / "plimsoll.toml").write_text(toml)
        (tmp_path / "log.csv").write_text("\r\n".join(rows) + "\r\n")
        done = plimsoll(
            *("review", tmp_path / "log.csv", "--details", "--json", tmp_path / "r.json", "--out", tmp_path / "r.html"),
            *("--only", "operating-system"),
        )
        loads = json.loads((tmp_path / "r.json").read_text())
        return done, loads["rules"], (tmp_path / "r.html").read_text(encoding="utf-8")

    return call


def breaches_of(rules, name):
    (rule,) = [rule for rule in rules if rule["rule"] == name]
    return rule["breaches"]


def during(start, end, inside, outside):
    return lambda minute: inside if start <= minute < end else outside


def process(name, counter=r"% Processor Time"):
    return rf"Process({name})\{counter}"


def test_the_three_that_used_most_are_named_with_their_means(run):
    done, rules, report = run({
        CPU: during(5, 20, 95, 10),
        process("Idle"): during(5, 20, 5, 400),
        process("_Total"): lambda _: 400,
        process("sqlservr"): during(4, 21, 180, 20),
        process("<b>w3wp</b>"): lambda _: 8,
        process("lsass"): lambda _: 4,
        process("system"): lambda _: 2,
        process("gone"): lambda _: None,
    }, toml=PHASES)  # fmt: skip
    (breach,) = breaches_of(rules, "cpu-busy")
    assert [(item["instance"], item["mean_while"], item["unit"]) for item in breach["processes"]] == [
        ("sqlservr", 180, "%"),
        ("<b>w3wp</b>", 8, "%"),
        ("lsass", 4, "%"),
    ]
    assert 20 < breach["processes"][0]["mean_otherwise"] < 60
    assert breach["processes"][0]["phase"] == "steady"
    line = next(line for line in done.out.splitlines() if "Processor time of a process, mean while" in line)
    assert line.startswith(
        "    Processor time of a process, mean while crossed (in the rest of the steady phase): sqlservr 180 % ("
    )
    assert "<b>w3wp</b> 8 % (8 %), lsass 4 % (4 %)" in line
    crossed = report[report.index('id="crossed"') :]
    assert "&lt;b&gt;w3wp&lt;/b&gt; 8 % (8 %)" in crossed
    assert "<b>w3wp" not in crossed.partition("<script")[0]


def test_each_breach_names_its_own(run):
    _, rules, report = run({
        CPU: lambda minute: 95 if 2 <= minute < 10 or 18 <= minute < 27 else 10,
        process("early"): during(0, 12, 90, 1),
        process("late"): during(12, 30, 90, 1),
    })  # fmt: skip
    named = [[item["instance"] for item in breach["processes"]] for breach in breaches_of(rules, "cpu-busy")]
    assert named == [["early", "late"], ["late", "early"]]
    assert report.count("Processor time of a process, mean while crossed") == 2


def test_memory_names_those_that_hold_it(run):
    _, rules, _ = run({
        MEMORY: during(5, 20, 1e6, 1e9),
        process("leak", "Private Bytes"): lambda _: 3e9,
        process("leak"): lambda _: 1,
        process("busy"): lambda _: 99,
    })  # fmt: skip
    (breach,) = breaches_of(rules, "memory-available")
    assert [(item["instance"], item["mean_while"], item["unit"]) for item in breach["processes"]] == [
        ("leak", 3e9, "bytes")
    ]


def test_without_phases_or_across_them_there_is_nothing_to_compare_with(run):
    """The mean outside a breach would include start-up and idle time."""
    columns = {CPU: during(5, 20, 95, 10), process("sqlservr"): during(4, 21, 180, 20)}
    across = PHASES.replace("10:02:00Z", "10:12:00Z")
    for toml in ("", across):
        done, rules, _ = run(columns, toml=toml)
        (breach,) = breaches_of(rules, "cpu-busy")
        assert (breach["processes"][0]["mean_otherwise"], breach["processes"][0]["phase"]) == (None, None)
        assert "mean while crossed: sqlservr 180 %\n" in done.out


def test_processes_of_another_host_are_not_to_blame_and_none_are_needed(run, plimsoll, tmp_path):
    done, rules, _ = run({CPU: lambda _: 95})
    assert breaches_of(rules, "cpu-busy")[0]["processes"] == []
    assert "of a process, mean while" not in done.out
    (tmp_path / "log.csv").rename(tmp_path / "web.csv")
    run({process("other"): lambda _: 100}, host="DB01")
    done = plimsoll("review", tmp_path / "web.csv", tmp_path / "log.csv", "--details")
    assert "of a process, mean while" not in done.out
