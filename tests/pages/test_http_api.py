"""The HTTP API of a running application: what it answers, what it refuses, and to whom."""

import json
import os
import re
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from io import BytesIO
from threading import Thread
from urllib.parse import quote, urlencode

import jsonschema
import numpy as np
import polars as pl
import pytest

import plimsoll as plimsoll_api
from plimsoll.alerting.firing import load_firing
from plimsoll.alerting.health import Health, HostHealth, HostState
from plimsoll.model.times import SECOND
from plimsoll.pages.review_jobs.kept_reviews import KeptReviews
from plimsoll.rules.states import State
from plimsoll.serve.credentials import CredentialUse, create_password, create_token, end_token
from tests.each import run_each
from tests.pages.alerting import HOSTILE, MINUTE
from tests.pages.charting import cpu, write
from tests.pages.test_runs import EXAMPLES
from tests.serve.site import EVERYWHERE, site
from tests.serve.test_access import basic
from tests.stored_runs import store_run

ROOT = "/api/v1"
JSON = {"Content-Type": "application/json"}
VALUES = np.arange(60) / 7


@contextmanager
def api(alert_data, store, hosts=("WEB1",), **options):
    """A server on which these hosts have alerts and limits."""
    for host in hosts:
        alert_data.fired(host)
        alert_data.judges(host, State.FIRING)

    def health():
        host_healths = [HostHealth(host, HostState.ALERT, "1 alert", alert_data.now) for host in hosts]
        return Health(hosts=host_healths, firing=load_firing(alert_data.file), evaluated=alert_data.now)

    with site(store, alert_data.folder, **alert_data.watching(), health=health, **options) as here:
        yield here


@pytest.fixture
def served(alert_data, duckdb):
    with api(alert_data, duckdb) as here:
        yield here


@pytest.fixture
def elsewhere(alert_data, duckdb):
    with api(alert_data, duckdb, listen=EVERYWHERE) as here:
        yield here


def get(here, path, headers=None, **query):
    parameters = {name.rstrip("_"): value for name, value in query.items()}
    return here.request("GET", f"{ROOT}{path}?{urlencode(parameters, doseq=True)}", headers=headers)


def read(here, path, **query):
    answer = get(here, path, **query)
    assert answer.status == 200, answer.data
    return answer.json()


def sent(here, method, path, body=None, headers=None):
    content = None if body is None else json.dumps(body)
    return here.request(method, ROOT + path, content, {**(JSON if body is not None else {}), **(headers or {})})


def bearer(token):
    return {"Authorization": f"Bearer {token}"}


def test_each_operation_of_the_document_answers_as_its_schema_says(alert_data, duckdb):
    write(duckdb, cpu("WEB1"), VALUES)
    for name, host in (("night", "A"), ("day", "B")):
        store_run(duckdb, EXAMPLES / "windows-today" / "healthy", name, host=host)
    silence = {"rule": "*", "host": "WEB1", "length": "1h", "reason": "it is repaired"}
    with api(alert_data, duckdb) as here:
        described = here.request("GET", "/api/openapi.json").json()
        for schema in described["components"]["schemas"].values():
            jsonschema.Draft202012Validator.check_schema(schema)
        # In this order: what is read is there by then.
        calls = {
            "health": "/health",
            "hosts": "/hosts?limit=5",
            "host": "/hosts/web1",
            "limits": "/limits?state=firing",
            "signals": "/signals?text=cpu",
            "series": "/series?from=now-1d",
            "samples": "/samples?signal=cpu.busy&from=now-1d",
            "silence": ("/silences", silence),
            "note": ("/notes", {"text": "deployed"}),
            "acknowledge": ("/alerts/1/acknowledgement", {"who": "joe", "note": "disk is ordered"}),
            "incidents": "/incidents",
            "alerts": "/alerts",
            "alert": "/alerts/1",
            "silences": "/silences",
            "notes": "/notes",
            "record": "/record",
            "end_silence": "/silences/1",
            "remove_note": "/notes/1",
            "runs": "/runs",
            "run": "/runs/night",
            "review": "/reviews/night",
            "comparison": "/comparisons?run=night&run=day",
            "capacity": "/capacity?run=night",
            "review_again": ("/reviews", {"run": "night"}),
            "rule": "/rules/windows-cpu-busy-critical",
            "preview": "/rules/windows-cpu-busy-critical/preview?healthy=%3C+50+%25&from=now-1d",
            "delete_run": "/runs/night",
        }
        operations = {
            operation["operationId"]: (path, method, operation)
            for path, methods in described["paths"].items()
            for method, operation in methods.items()
        }
        assert calls.keys() == operations.keys()
        for name, call in calls.items():
            _, method, operation = operations[name]
            path, body = call if isinstance(call, tuple) else (call, None)
            answer = sent(here, method.upper(), path, body)
            assert answer.status < 300, (name, answer.data)
            schema = operation["responses"][str(answer.status)]["content"]["application/json"]["schema"]
            jsonschema.validate(answer.json(), {**schema, "components": described["components"]})
            lists = answer.json().get("items")
            assert lists is None or lists, f"{name} lists nothing, so nothing was tested"
        assert [item["name"] for item in read(here, "/runs")["items"]] == ["day"]
        done = [item["what"] for item in read(here, "/record")["items"]]
        assert done[:2] == ["deleted run night", "had run night reviewed again"]


def test_the_document_names_every_path_that_is_answered(served):
    described = served.request("GET", "/api/openapi.json").json()
    assert described["openapi"].startswith("3.1")
    assert served.request("HEAD", f"{ROOT}/hosts").status == 200
    for path, operations in described["paths"].items():
        named = path.replace("{id}", "999").replace("{host}", "x").replace("{run}", "x")
        for method in ("get", "post", "delete"):
            status = sent(served, method.upper(), named.removeprefix(ROOT), {} if method == "post" else None).status
            assert (status == 405) == (method not in operations), (method, path)
    for wrong in ("/nothing", "/hosts/", "", "/alerts/x"):
        answer = served.request("GET", ROOT + wrong)
        assert (answer.status, answer.json()["hint"] != "") == (404, True), wrong


def test_samples_are_those_that_were_written_in_every_format(alert_data, duckdb):
    write(duckdb, cpu("WEB1"), VALUES)
    write(duckdb, cpu("WEB2"), VALUES + 1)
    write(duckdb, cpu("@SUM(1)"), VALUES)
    with api(alert_data, duckdb) as here:
        part = {"signal": "cpu.busy", "host": "web1", "from_": "now-1d"}
        (line,) = read(here, "/samples", **part)["series"]
        assert (line["host"], line["unit"], line["value"]) == ("WEB1", "%", VALUES.tolist())
        table = pl.read_csv(BytesIO(get(here, "/samples", **part, format="csv").data), try_parse_dates=True)
        frame = pl.read_ipc(BytesIO(get(here, "/samples", **part, format="arrow").data))
        assert table["value"].to_list() == frame["value"].to_list() == VALUES.tolist()
        assert frame["time"].dtype == pl.Datetime("ns", "UTC")
        odd = get(here, "/samples", signal="cpu.busy", host="@SUM(1)", from_="now-1d", format="csv").data.decode()
        assert ",'@SUM(1)," in odd
        times = pl.Series(line["times"]).str.to_datetime(time_unit="ns", time_zone="UTC")
        assert times.to_list() == frame["time"].to_list()
        raw = {"measurement": "win_cpu", "field": "Percent_Processor_Time", "tag": "instance=_Total", "from_": "now-1d"}
        assert [item["host"] for item in read(here, "/samples", **raw)["series"]] == ["@SUM(1)", "WEB1", "WEB2"]
        assert read(here, "/samples", **{**raw, "tag": "instance=0"})["series"] == []


def test_too_many_values_are_refused_with_what_to_do(alert_data, duckdb, monkeypatch):
    write(duckdb, cpu("WEB1"), VALUES)
    monkeypatch.setattr("plimsoll.pages.http_api.samples.MOST_VALUES", 59)
    with api(alert_data, duckdb) as here:
        whole = {"signal": "cpu.busy", "from_": "now-1d"}
        refused = get(here, "/samples", **whole)
        assert (refused.status, "60 values" in refused.json()["error"]) == (422, True)
        assert "bucket=5m" in refused.json()["error"]
        assert get(here, "/samples", **whole, bucket="1m").status == 422  # 1,440 buckets
        assert len(read(here, "/samples", **whole, bucket="1h")["series"]) == 1
        monkeypatch.setattr("plimsoll.pages.http_api.samples.MOST_VALUES", 60)
        assert len(read(here, "/samples", **whole)["series"][0]["value"]) == 60


def test_lists_come_in_parts_and_end(alert_data, duckdb):
    with api(alert_data, duckdb, hosts=("WEB1", "web2", HOSTILE)) as here:
        names, offset = [], 0
        while offset is not None:
            part = read(here, "/hosts", limit=2, offset=offset)
            assert part["total"] == 3
            names += [item["name"] for item in part["items"]]
            offset = part["next"]
        assert sorted(names) == sorted(["WEB1", "web2", HOSTILE])
        assert read(here, "/hosts", offset=3) == {"items": [], "total": 3, "next": None}
        for path in ("/alerts", "/incidents", "/limits"):
            first, rest = read(here, path, limit=2), read(here, path, limit=2, offset=2)
            assert [len(item["items"]) for item in (first, rest)] == [2, 1], path
        assert read(here, "/hosts/" + quote(HOSTILE, safe=""))["name"] == HOSTILE
        assert [item["host"] for item in read(here, "/alerts", host="web*")["items"]] == ["web2", "WEB1"]


@run_each(
    [
        ("/hosts?limit=0", 400, "limit"),
        ("/hosts?limit=1001", 400, "limit"),
        ("/hosts?offset=-1", 400, "offset"),
        ("/hosts?limt=5", 400, "limt"),
        ("/hosts?limit=1&limit=2", 400, "limit"),
        ("/hosts/none", 404, "host"),
        ("/alerts?severity=bad", 400, "severity"),
        ("/alerts/999", 404, "id"),
        ("/alerts?state=ended&from=soon", 400, "from"),
        ("/alerts?state=ended&from=now&to=now-1h", 400, "from"),
        ("/samples", 400, "signal"),
        ("/samples?signal=cpu.busy&measurement=x", 400, "signal"),
        ("/samples?signal=none", 404, "signal"),
        ("/samples?signal=cpu.busy&bucket=soon", 400, "bucket"),
        ("/samples?signal=cpu.busy&bucket=0s", 400, "bucket"),
        ("/samples?measurement=x&tag=y", 400, "tag"),
        ("/runs/none", 404, "run"),
        ("/reviews/none", 404, "run"),
        ("/comparisons?run=one", 400, "run"),
        ("/comparisons?run=one&run=two", 404, "run"),
    ],
    named=repr,
)
def test_a_mistake_is_told_with_its_place_and_what_to_do(case, served):
    path, status, where = case
    answer = served.request("GET", ROOT + path)
    problem = answer.json()
    assert (answer.status, problem["where"], bool(problem["error"]), bool(problem["hint"])) == (
        status,
        where,
        True,
        True,
    )


LONG = "9" * 400


def test_no_input_ends_in_an_error_of_the_server(alert_data, duckdb):
    write(duckdb, cpu("WEB1"), VALUES)
    hostile = [
        "",
        "\0",
        "%00",
        "\ud7ff",
        HOSTILE,
        LONG,
        f"-{LONG}",
        "NaN",
        "1e999",
        "*",
        "../..",
        "%",
        "now-99999999999d",
    ]
    fields = ("rule", "host", "length", "reason", "text", "at", "who", "run", "start")
    with api(alert_data, duckdb) as here:
        described = here.request("GET", "/api/openapi.json").json()["paths"]
        tried = 0

        def tries(method, path, body=None):
            nonlocal tried
            status = here.request(method, path, body, JSON if body is not None else {}).status
            assert status < 500, (method, path, body)
            tried += 1

        for path, operations in described.items():
            for value in hostile:
                named = re.sub(r"{\w+}", quote(value, safe="") or "-", path)
                for parameter in operations.get("get", {}).get("parameters", ()):
                    usual = {"signal": "cpu.busy"} if path.endswith("/samples") else {}
                    asks = urlencode({**usual, parameter["name"]: value})
                    tries("GET", f"{named}?{asks}")
                if "delete" in operations or named != path:
                    tries("DELETE", named)
                if "post" in operations:
                    for body in ({}, dict.fromkeys(fields, value), [value], value):
                        tries("POST", named, json.dumps(body))
            tries("DELETE", path)
            tries("POST", path, "{}")
            for raw in (b"{", b"\xff", b'{"text": "\\ud800"}', b"[" * 20_000, b"1" * 40_000):
                tries("POST", re.sub(r"{\w+}", "1", path), raw)
        assert tried > 500
        assert here.request("GET", ROOT + "/hosts/%ED%A0%80").status == 404


def test_where_a_login_is_needed_each_token_may_do_what_it_is_for(elsewhere):
    folder = elsewhere.folder
    samples, reading, changing = (
        create_token(folder),
        create_token(folder, use=CredentialUse.READ),
        create_token(folder, "ci", CredentialUse.CHANGE),
    )
    password = {"Authorization": basic(create_password(folder))}
    note = {"text": "deployed"}

    def statuses(headers):
        return get(elsewhere, "/hosts", headers).status, sent(elsewhere, "POST", "/notes", note, headers).status

    for answer in (get(elsewhere, "/hosts", bearer("wrong")), sent(elsewhere, "POST", "/notes", note)):
        assert (bool(answer.json()["error"]), bool(answer.json()["hint"])) == (True, True)
        assert answer.headers["WWW-Authenticate"] == "Bearer"
    assert statuses({}) == (401, 401)
    assert statuses(bearer("wrong")) == statuses(bearer(samples)) == (401, 401)
    assert statuses(bearer(reading)) == (200, 403)
    assert statuses(bearer(changing)) == (200, 201)
    assert statuses(password) == (200, 401)  # a browser sends it by itself
    for path in ("/api/openapi.json", "/api/docs", "/metrics", "/"):
        assert [elsewhere.request("GET", path, headers=headers).status for headers in ({}, bearer(reading))] == [
            401,
            200,
        ], path
    line = "m,host=h f=1"
    for token, status in ((samples, 204), (reading, 401), (changing, 401)):
        assert elsewhere.post(line, Authorization=f"Token {token}").status == status
    end_token(folder, "ci", CredentialUse.CHANGE)
    assert statuses(bearer(changing)) == (401, 401)


def test_the_command_line_makes_tokens_of_each_kind(elsewhere, plimsoll):
    data = ("--store", str(elsewhere.folder))
    command = plimsoll("up", "--new-token", "--token-for", "read", *data)
    token = command.out.split()[1]
    assert "--new-token --token-for read" in command.out
    assert get(elsewhere, "/hosts", bearer(token)).status == 200
    named = plimsoll("up", "--token-name", "ci", "--token-for", "change", *data).out.split()[1]
    assert sent(elsewhere, "POST", "/notes", {"text": "x"}, bearer(named)).status == 201
    assert plimsoll("up", "--end-token", "ci", *data).status == 2  # it is none for samples
    assert plimsoll("up", "--end-token", "ci", "--token-for", "change", *data).status == 0
    assert sent(elsewhere, "POST", "/notes", {"text": "x"}, bearer(named)).status == 401


def test_pages_of_other_sites_change_nothing(served):
    for headers in ({"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}):
        assert sent(served, "POST", "/notes", {"text": "x"}, headers).status == 403
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""):
        answer = served.request("POST", f"{ROOT}/notes", '{"text": "x"}', {"Content-Type": kind})
        assert answer.status == 415, kind
    assert read(served, "/notes")["items"] == []


def test_an_acknowledged_alert_is_answered_as_it_is_then_and_one_that_ended_is_not_acknowledged(alert_data, duckdb):
    ended = alert_data.fired("WEB9", ended=MINUTE)
    with api(alert_data, duckdb) as here:
        number = read(here, "/alerts")["items"][0]["id"]
        done = sent(here, "POST", f"/alerts/{number}/acknowledgement", {"who": "joe", "note": "looking"}).json()
        assert (done["acked_by"], done["ack_note"], done["acked_at"] is None) == ("joe", "looking", False)
        history = read(here, f"/alerts/{number}")
        assert history["alert"] == done | {"text": history["alert"]["text"]}
        assert [item["note"] for item in history["events"] if item["what"] == "acknowledged"] == ["joe: looking"]
        refused = sent(here, "POST", f"/alerts/{ended}/acknowledgement", {"who": "joe"})
        assert (refused.status, "has ended" in refused.json()["error"]) == (422, True)
        assert sent(here, "POST", "/alerts/999/acknowledgement", {"who": "joe"}).status == 404
        assert [item["id"] for item in read(here, "/alerts", state="ended", host="web9")["items"]] == [ended]


def test_a_silence_holds_is_planned_and_ends(served):
    body = {"rule": "windows-*", "host": "web1", "length": "1h", "reason": "it is repaired", "who": "joe"}
    silence = sent(served, "POST", "/silences", body).json()
    assert read(served, "/incidents")["items"][0]["alerts"][0]["silenced"]
    later = sent(served, "POST", "/silences", {**body, "start": str((time.time_ns() + 3600 * SECOND) // 10**6)}).json()
    assert [item["id"] for item in read(served, "/silences")["items"]] == [silence["id"]]
    assert [item["id"] for item in read(served, "/silences", state="planned")["items"]] == [later["id"]]
    assert sent(served, "DELETE", f"/silences/{silence['id']}").status == 200
    assert not read(served, "/incidents")["items"][0]["alerts"][0]["silenced"]
    assert sent(served, "DELETE", f"/silences/{silence['id']}").status == 404
    refused = sent(served, "POST", "/silences", {**body, "length": "31d"})
    assert (refused.status, bool(refused.json()["error"])) == (422, True)


def test_a_run_is_reviewed_and_compared_as_the_commands_do(duckdb, alert_data):
    for name in ("healthy", "trouble"):
        store_run(duckdb, EXAMPLES / "windows-today" / name, name, host=name.upper())
    with api(alert_data, duckdb) as here, plimsoll_api.connect(here.address) as connection:
        assert get(here, "/reviews/trouble").status == 202
        review = connection.review("trouble")
        jsonschema.validate(review, {"required": ["schema", "run", "groups", "verdict"]})
        assert (review["schema"], review["run"]["name"]) == ("plimsoll.review/1", "trouble")
        (kept,) = [run.review for run in connection.runs(text="trouble")]
        assert kept is not None
        assert (kept.verdict, bool(kept.crossed)) == (review["verdict"], True)
        compared = connection.compare("healthy", "trouble")
        assert (compared["schema"], compared["comparisons"][0]["run"]["name"]) == ("plimsoll.comparison/1", "trouble")


def test_comparisons_that_wait_are_bounded_and_keep_nobody_from_a_review(duckdb, alert_data, monkeypatch):
    """Ten runs have millions of comparisons, and every reader may request each of them."""
    monkeypatch.setattr("plimsoll.pages.review_jobs.run_reviews._MOST_COMPARISONS", 0)
    for name in ("healthy", "trouble"):
        store_run(duckdb, EXAMPLES / "windows-today" / name, name, host=name.upper())
    with api(alert_data, duckdb) as here:
        refused = get(here, "/comparisons", run=["healthy", "trouble"])
        assert (refused.status, refused.headers["Retry-After"]) == (503, "60")
        assert b"Many comparisons" in here.request("GET", "/runs/compare?a=healthy&b=trouble").data
        assert get(here, "/reviews/trouble").status == 202


def test_of_comparisons_the_latest_are_kept(tmp_path, monkeypatch):
    monkeypatch.setattr("plimsoll.pages.review_jobs.kept_reviews._MOST_OTHERS", 2)
    reviews = KeptReviews(tmp_path)
    for n in range(5):
        reviews.save_report(f"id{n}", "report", "{}")
        for path in (tmp_path / "reviews").glob(f"id{n}.*"):
            at = time.time() - 100 + n
            os.utime(path, (at, at))
    reviews.tidy(())
    kept = sorted(path.name for path in (tmp_path / "reviews").iterdir())
    assert {name.partition(".")[0] for name in kept} == {"id3", "id4"}
    assert len(kept) == 4


def test_the_python_face_reads_and_changes(alert_data, duckdb):
    write(duckdb, cpu("WEB1"), VALUES)
    with api(alert_data, duckdb, listen=EVERYWHERE) as here:
        changing, reading = (create_token(here.folder, use=use) for use in (CredentialUse.CHANGE, CredentialUse.READ))
        with plimsoll_api.connect(here.address, token=changing) as connection:
            assert [host.name for host in connection.hosts()] == ["WEB1"]
            assert connection.health().firing["critical"] == 1
            frame = connection.series("cpu.busy", host="WEB1", from_="now-1d")
            assert frame["value"].to_list() == VALUES.tolist()
            assert connection.series("disk.free").is_empty()
            (incident,) = connection.incidents()
            assert connection.acknowledge(incident.alerts[0].id, who="joe").acked_by == "joe"
            note = connection.note("deployed", host="WEB1")
            assert connection.notes() == [note]
            assert len(connection.signals()) > 300
            with pytest.raises(plimsoll_api.Unusable, match="no signal is named none; GET"):
                connection.series("none")
        with (
            plimsoll_api.connect(here.address, token=reading) as connection,
            pytest.raises(plimsoll_api.Unusable, match="is for reading"),
        ):
            connection.note("x")
    with plimsoll_api.connect(here.address) as connection, pytest.raises(plimsoll_api.Unreachable):
        connection.hosts()


def test_the_example_of_the_page_runs(alert_data, duckdb, capsys):
    page = (EXAMPLES.parent / "docs" / "python.md").read_text("utf-8")
    _, example = re.findall(r"^```python\n(.*?)^```", page, re.M | re.S)
    write(duckdb, cpu("WEB1"), VALUES)
    with api(alert_data, duckdb) as here:
        exec(example.replace("http://127.0.0.1:8087", here.address), {"plimsoll": plimsoll_api})
    assert "WEB1" in capsys.readouterr().out


def test_a_redirect_does_not_take_the_token_elsewhere():
    paths = []

    class Away(BaseHTTPRequestHandler):
        def do_GET(self):
            paths.append(self.path)
            self.send_response(302)
            self.send_header("Location", f"http://localhost:{server.server_port}/elsewhere")
            self.end_headers()

        def log_message(self, format, *args):
            pass

    with HTTPServer(("127.0.0.1", 0), Away) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}"
        with plimsoll_api.connect(address, token="x") as connection, pytest.raises(plimsoll_api.Unusable, match="302"):
            connection.hosts()
        server.shutdown()
    assert [path.partition("?")[0] for path in paths] == ["/api/v1/hosts"]
