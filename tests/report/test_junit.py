"""`--junit`: what build servers read."""

from xml.etree import ElementTree

import pytest

QUEUE = r"PhysicalDisk({})\Avg. Disk Queue Length"
CPU = r"Processor(_Total)\% Processor Time"
# Naming the pack gives its limits the severity that they have on the systems they were measured on.
AS_MEASURED = ("", "WEB01", "--pack", "disk")


@pytest.fixture
def run(plimsoll, tmp_path):
    """Reviews constant columns; gives the cases by name, and the root."""

    def call(columns, toml="", host="WEB01", *arguments):
        names = ",".join(rf'"\\{host}\{path}"' for path in columns)
        rows = [f'"(PDH-CSV 4.0) (UTC)(0)",{names}']
        for s in range(0, 1200, 10):
            cells = ",".join(
                f'"{value[s >= 600] if isinstance(value, tuple) else value}"' for value in columns.values()
            )
            rows.append(f'"01/15/2008 10:{s // 60:02}:{s % 60:02}.000",{cells}')
        (tmp_path / "log.csv").write_text("\r\n".join(rows) + "\r\n", encoding="utf-8", newline="")
        (tmp_path / "plimsoll.toml").write_text(toml, encoding="utf-8")
        out = tmp_path / "junit.xml"
        done = plimsoll("review", tmp_path / "log.csv", "--junit", out, *arguments)
        assert done.status in (0, 1)
        root = ElementTree.fromstring(out.read_bytes())
        return {case.get("name"): case for case in root.iter("testcase")}, root

    return call


def test_counts_and_times_add_up(run):
    cases, root = run({CPU: 88, QUEUE.format("0 C:"): 9, QUEUE.format("1 D:"): 0.1}, *AS_MEASURED)
    assert root.tag == "testsuites"
    suites = list(root)
    assert {suite.tag for suite in suites} == {"testsuite"}
    assert {"operating-system", "disk", "sql-server"} <= {suite.get("name") for suite in suites}
    for suite in suites:
        assert int(suite.get("tests", "")) == len(suite.findall("testcase"))
        assert int(suite.get("failures", "")) == len(suite.findall("testcase/failure"))
        assert int(suite.get("skipped", "")) == len(suite.findall("testcase/skipped"))
        assert int(suite.get("errors", "")) == len(suite.findall("testcase/error"))
        assert suite.get("timestamp") == "2008-01-15T10:00:00"
        times = [float(case.get("time", "")) for case in suite.findall("testcase")]
        assert float(suite.get("time", "")) == pytest.approx(sum(times))
        assert {case.get("classname") for case in suite.findall("testcase")} == {suite.get("name")}
    for name in ("tests", "failures", "skipped", "time"):
        assert float(root.get(name, "")) == pytest.approx(sum(float(suite.get(name, "")) for suite in suites))
    assert root.get("failures") == "2"
    assert float(cases["cpu-busy on WEB01"].get("time", "")) == 1190


def test_a_failure_lists_every_instance_with_each_breach_and_the_source(run):
    cases, _ = run(
        {QUEUE.format("0 C:"): (9, 0), QUEUE.format("1 D:"): (0, 7), QUEUE.format("2 E:"): 0.1}, *AS_MEASURED
    )
    failure = cases["disk-queue-per-spindle on WEB01"].find("failure")
    assert failure is not None
    assert failure.get("type") == "warning"
    assert "(and 1 more)" in failure.get("message", "")
    text = failure.text or ""
    assert "WEB01, 0 C:: threshold ≤ 3 requests" in text
    assert "WEB01, 1 D:: threshold ≤ 3 requests" in text
    assert "2 E:" not in text
    assert text.count("2008-01-15 10:") == 2
    assert "worst 9 requests" in text
    assert "worst 7 requests" in text
    assert "source: " in text


def test_what_was_not_judged_is_skipped_with_its_reason(run):
    toml = '[rules.cpu-busy]\noff = true\nreason = "a batch machine"\n'
    cases, _ = run({CPU: 88, QUEUE.format("0 C:"): 0.1}, toml)

    def skipped(name):
        result = cases[name].find("skipped")
        return result.get("message", "") if result is not None else ""

    assert skipped("cpu-busy on WEB01") == "switched off in plimsoll.toml: a batch machine"
    assert skipped("memory-available on WEB01") == "not recorded in these logs"
    assert skipped("sql-page-life-expectancy").startswith("does not apply: none of SQLServer:*")
    assert skipped("disk-queue-per-spindle on WEB01") == ""
    assert len(cases["disk-queue-per-spindle on WEB01"]) == 0


def test_a_crossing_that_is_only_worth_knowing_is_no_failure(run, tmp_path):
    pack = tmp_path / "own.yaml"
    pack.write_text(
        "pack: own\ntitle: T\nabout: a\nrules:\n"
        '  - {id: knowing, signal: cpu.busy, healthy: "< 50", severity: info, summary: Worth knowing.,\n'
        "     sources: [{document: D, place: p}]}\n"
    )
    cases, root = run({CPU: 88}, "", "WEB01", "--only", pack)
    assert root.get("failures") == "0"
    out = cases["knowing on WEB01"].findtext("system-out") or ""
    assert "worst 88 %" in out
    assert "source: D, p" in out


def test_characters_that_no_xml_can_hold_are_shown(run):
    name = "0 \x01C\x0b:\ufffe]]>&<\x1b"
    cases, _ = run({QUEUE.format(name): 9}, *AS_MEASURED)
    failure = cases["disk-queue-per-spindle on WEB01"].find("failure")
    assert failure is not None
    assert "0 \\x01C\\x0b:\\ufffe]]>&<\\x1b" in (failure.text or "")


def test_it_is_written_whole_or_not_at_all(plimsoll, run, tmp_path):
    run({CPU: 88})
    done = plimsoll("review", tmp_path / "log.csv", "--junit", tmp_path / "log.csv" / "junit.xml")
    assert done.status == 2
    assert "junit.xml: cannot be written" in done.err
    assert plimsoll("review", tmp_path / "log.csv", "--junit", tmp_path / "j.xml", "--fail-on", "warning").status == 1
    assert (tmp_path / "j.xml").exists()
