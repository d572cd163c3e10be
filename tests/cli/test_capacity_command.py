"""`plimsoll capacity` from logs to its answer, and its refusals."""

import json


def write_log(path, loads):
    """Requests and processor time of one host, every 15 seconds: 10 % without load, 0.1 % for one request a second."""
    names = r"\\WEB01\Web Service(_Total)\Total Method Requests/sec", r"\\WEB01\Processor(_Total)\% Processor Time"
    lines = ['"(PDH-CSV 4.0) (UTC)(0)","' + '","'.join(names) + '"']
    for at, load in enumerate(loads):
        result = load * (1 + 0.02 * (at % 3 - 1))
        time = f"01/15/2026 10:{at // 4:02}:{at % 4 * 15:02}.000"
        lines.append(f'"{time}","{result}","{10 + 0.1 * result + (at % 5 - 2) / 4}"')
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_the_answer_comes_first_and_json_has_its_figures(plimsoll, tmp_path):
    log = write_log(tmp_path / "web.csv", [load for load in (100, 200, 300, 400, 500, 600) for _ in range(20)])
    out = tmp_path / "capacity.json"
    done = plimsoll("capacity", log, "--json", out)
    assert done.status == 0, done.err
    first = done.out.splitlines()[0]
    assert first.startswith("About ")
    assert "before processor time of WEB01 reaches 80 % (projected; measured up to 60" in first
    written = json.loads(out.read_text(encoding="utf-8"))
    assert written["answer"] == first
    assert 690 < written["limits"][0]["load"]["value"] < 710


def test_a_load_that_does_not_vary_is_refused_in_one_line(plimsoll, tmp_path):
    done = plimsoll("capacity", write_log(tmp_path / "web.csv", [300] * 60))
    assert done.status == 2
    assert done.out == ""
    assert len(done.err.splitlines()) == 1
    assert "not known: the load does not vary" in done.err


def test_a_profile_with_costs_needs_no_run(plimsoll):
    done = plimsoll("capacity", "--profile", "membership-directory", "--users", "4000", "--peak-factor", "2")
    assert done.status == 0
    assert done.out.startswith("About 16,000 users before add reaches 4 /s (the disks of SQL Server); then processor")
    assert "8,000 users: processor 186.014 PPEM (23.3 %)" in done.out


def test_a_profile_of_users_and_an_objective(plimsoll, tmp_path):
    log = write_log(tmp_path / "web.csv", [load for load in (100, 200, 300, 400, 500, 600) for _ in range(20)])
    profile = tmp_path / "clerks.yaml"
    profile.write_text("title: Clerks\nusers: 2000\nsession: 60s\noperations: {Web requests: 15}\n", encoding="utf-8")
    done = plimsoll("capacity", log, "--profile", profile)
    assert done.status == 0, done.err
    assert done.out.startswith("About 2,800 users (2,")  # each does a quarter of a request a second
    assert "2,000 users do 500 Web requests/s: processor time of WEB01 60" in done.out
    for options, why in [
        (
            ["--objective", "response_p95=500ms"],
            "client.response_p95, of which an objective is given, was not recorded",
        ),
        (["--objective", "p95"], '"p95" is no objective; write it like response_p95=500ms'),
        (["--profile", tmp_path / "none.yaml"], "none.yaml"),
    ]:
        wrong = plimsoll("capacity", log, *options)
        assert (wrong.status, wrong.out, len(wrong.err.splitlines())) == (2, "", 1)
        assert why in wrong.err


def test_the_page_has_a_curve_of_each_resource(plimsoll, tmp_path):
    log = write_log(tmp_path / "web.csv", [load for load in (100, 200, 300, 400, 500, 600) for _ in range(20)])
    page = tmp_path / "capacity.html"
    done = plimsoll("capacity", log, "--out", page)
    assert done.out.endswith(f"Report: {page}\n")
    text = page.read_text(encoding="utf-8")
    assert done.out.splitlines()[0] in text
    assert text.count('class="fit beyond"') == 1
    assert text.count('class="measured"') == 6
    assert "http" not in text.split("<body>")[1]
    refused = plimsoll("capacity", log, "--out", log)
    assert (refused.status, "is one of the logs" in refused.err) == (2, True)


def test_what_is_short_already_stands_in_the_answer(plimsoll, request):
    """Memory has no line to its limit; the load that fills a processor must not hide that memory is short."""
    done = plimsoll("capacity", request.config.rootpath / "examples" / "messaging" / "trouble")
    first = done.out.splitlines()[0]
    assert "too little memory" in first
    assert "Memory is not projected" in first
