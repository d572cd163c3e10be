"""Users with roles, a proxy that names the user, and the audit log."""

import base64
import re
import stat
from contextlib import closing
from ipaddress import ip_network

import pytest
from fastapi import FastAPI
from starlette.routing import Route

from plimsoll.alerting import actions
from plimsoll.alerting.alerts_file import NAME, AlertsFile
from plimsoll.model.errors import Unusable
from plimsoll.pages.application import list_routes
from plimsoll.pages.http_api.api_application import describe
from plimsoll.serve import secret_files, users
from plimsoll.serve.access import TrustedProxy
from plimsoll.serve.credentials import CredentialUse, create_password, create_token, end_password, make_missing
from plimsoll.serve.principals import Role, RolesOf, find_needed_role
from tests.conftest import COST_OF_A_PASSWORD
from tests.each import run_each
from tests.serve.site import EVERYWHERE, site, watched

WORD = "correct horse battery"
SECRET = "s" * 24


def basic(name, password=WORD):
    return {"Authorization": "Basic " + base64.b64encode(f"{name}:{password}".encode()).decode()}


def bearer(token):
    return {"Authorization": f"Bearer {token}"}


def with_users(folder):
    folder.mkdir(mode=0o700, exist_ok=True)
    for role in Role:
        users.add(folder, f"{role}-1", role, WORD)
    return folder


@pytest.fixture
def elsewhere(duckdb, tmp_path):
    with site(duckdb, with_users(tmp_path / "data"), listen=EVERYWHERE) as result:
        yield result


def note(server, headers=None, path="/notes", body="text=deployed"):
    sent = {"Content-Type": "application/x-www-form-urlencoded", **(headers or {})}
    return server.request("POST", path, body, sent, redirect=False).status


def recorded(server):
    file = AlertsFile(server.folder / NAME)
    try:
        entries, _ = actions.find_audit_entries(file, 0, 2**62, "", 0, 100)
        return [(entry.who, entry.how, entry.what) for entry in entries]
    finally:
        file.close()


def test_a_role_includes_what_the_lower_ones_may(elsewhere):
    for name, may_note, may_reload in (
        ("viewer-1", False, False),
        ("operator-1", True, False),
        ("admin-1", True, True),
    ):
        assert elsewhere.request("GET", "/alerts", headers=basic(name)).status == 200
        assert note(elsewhere, basic(name)) == (303 if may_note else 403), name
        # 303 leads back to the page.
        status = elsewhere.request("POST", "/settings/reload", b"", basic(name), redirect=False).status
        assert status == (303 if may_reload else 403), name
    refused = elsewhere.request("POST", "/notes", b"text=x", basic("viewer-1"))
    assert "viewer-1 has the role viewer: this needs operator" in refused.json()["message"]
    assert elsewhere.request("GET", "/", headers=basic("viewer-1", "wrong password")).status == 401
    assert elsewhere.request("GET", "/", headers=basic("nobody")).status == 401


def test_nothing_that_changes_anything_is_open_to_a_viewer(tmp_path, duckdb):
    of_operators = set()
    with closing(AlertsFile(tmp_path / NAME)) as file:
        shown = watched(duckdb, tmp_path, file)
        with shown.closing:  # ends the threads that the pages begin
            shown_routes = [route for route in list_routes(shown) if isinstance(route, Route)]
            endpoints = {(route.path, *route.methods) for route in shown_routes if route.methods}
            (api,) = {route.endpoint for route in shown_routes if isinstance(route.endpoint, FastAPI)}
            endpoints |= {(path, *map(str.upper, methods)) for path, methods in describe(api)["paths"].items()}
    for route, *methods in endpoints:
        path = re.sub(r"\{[^}]*\}", "1", route)
        for method in {"POST", "DELETE", "PUT", "PATCH"} & {*methods}:
            assert find_needed_role(method, path) is not Role.VIEWER, (method, path)
            if find_needed_role(method, path) is Role.OPERATOR:
                of_operators.add(path.partition("/v1")[2] or path)
    assert of_operators == {
        "/alerts/1/ack",
        "/alerts/1/acknowledgement",
        "/silences",
        "/silences/1",
        "/silences/1/end",
        "/incidents/1/silence",
        "/notes",
        "/notes/1",
        "/notes/1/remove",
    }


def test_on_the_loopback_address_everybody_reads_and_users_change(duckdb, tmp_path):
    with site(duckdb, tmp_path / "data") as here:
        assert note(here) == 303  # there are no users: as before
        with_users(here.folder)
        assert here.request("GET", "/alerts").status == 200
        assert here.request("GET", "/api/v1/alerts").status == 200
        assert here.post(b"cpu,host=a v=1").status == 204
        assert note(here) == 401
        assert note(here, basic("viewer-1")) == 403
        assert note(here, basic("operator-1")) == 303
        assert b"Log in" in here.request("GET", "/alerts").data
        page = here.request("GET", "/alerts", headers=basic("operator-1")).data
        assert b"Log in" not in page
        assert b"operator-1" in page
        request = here.request("GET", "/login?back=/alerts", redirect=False)
        assert (request.status, request.headers["WWW-Authenticate"][:5]) == (401, "Basic")
        back = here.request("GET", "/login?back=//evil.example/x", headers=basic("viewer-1"), redirect=False)
        assert (back.status, back.headers["Location"]) == (303, "/x")


def test_a_change_of_users_holds_at_once(elsewhere):
    assert note(elsewhere, basic("operator-1")) == 303
    users.change_user(elsewhere.folder, "operator-1", role=Role.VIEWER)
    assert note(elsewhere, basic("Operator-1")) == 403
    users.change_user(elsewhere.folder, "operator-1", password="another password")
    assert elsewhere.request("GET", "/", headers=basic("operator-1")).status == 401
    assert elsewhere.request("GET", "/", headers=basic("operator-1", "another password")).status == 200
    users.remove(elsewhere.folder, "operator-1")
    assert elsewhere.request("GET", "/", headers=basic("operator-1", "another password")).status == 401


def test_the_shared_password_is_valid_until_it_is_ended(elsewhere):
    assert "password" not in make_missing(elsewhere.folder)  # there are users
    shared = create_password(elsewhere.folder)
    assert note(elsewhere, basic("joe", shared)) == 303
    assert elsewhere.request("GET", "/", headers=basic("viewer-1", shared)).status == 401
    end_password(elsewhere.folder)
    assert note(elsewhere, basic("joe", shared)) == 401


def test_a_token_for_operators_does_what_they_do(elsewhere):
    token = create_token(elsewhere.folder, "ci", CredentialUse.OPERATE)
    request = elsewhere.request(
        "POST", "/api/v1/notes", b'{"text": "x"}', {"Content-Type": "application/json", **bearer(token)}
    )
    assert request.status == 201
    assert elsewhere.request("DELETE", "/api/v1/runs/night", headers=bearer(token)).status == 403
    assert recorded(elsewhere) == [("a program", "token ci", "made note 1: x")]


def test_the_record_has_the_name_of_the_login_and_not_the_one_that_was_typed(elsewhere):
    note(elsewhere, basic("OPERATOR-1"), body="text=deployed&who=anna&host=WEB1")
    assert recorded(elsewhere) == [("operator-1", "password", "made note 1 on WEB1: deployed")]
    page = elsewhere.request("GET", "/record", headers=basic("viewer-1")).data.decode()
    assert "made note 1 on WEB1: deployed" in page
    listed = elsewhere.request("GET", "/api/v1/record?who=operator-1", headers=basic("viewer-1")).json()
    assert [item["what"] for item in listed["items"]] == ["made note 1 on WEB1: deployed"]


def test_a_proxy_says_who_asks(duckdb, tmp_path):
    proxy = TrustedProxy([ip_network("127.0.0.1")], "X-User", SECRET)
    with site(duckdb, with_users(tmp_path / "data"), login=True, proxy=proxy) as here:
        for headers, status in (
            ({"X-User": "operator-1"}, 303),
            ({"X-User": "viewer-1"}, 403),
            ({"X-User": "stranger"}, 403),
            ({"X-User": ""}, 401),
            ({"X-User": "operator-1", "X-Plimsoll-Proxy": "t" * 24}, 401),
            ({"X-User": "operator-1", "X-Plimsoll-Proxy": ""}, 401),
        ):
            assert note(here, {"X-Plimsoll-Proxy": SECRET, **headers}) == status, headers


def test_nobody_else_than_the_proxy_says_who_asks(duckdb, tmp_path):
    proxy = TrustedProxy([ip_network("10.0.0.7")], "X-User")
    with site(duckdb, with_users(tmp_path / "data"), listen=EVERYWHERE, proxy=proxy) as here:
        assert note(here, {"X-User": "admin-1", "X-Forwarded-For": "10.0.0.7"}) == 401


def test_people_of_the_proxy_who_are_no_users_have_the_role_of_the_settings(duckdb, tmp_path):
    proxy = TrustedProxy([ip_network("127.0.0.0/8")], "X-User", SECRET, RolesOf(usual=Role.OPERATOR))
    with site(duckdb, tmp_path / "data", login=True, proxy=proxy) as here:
        assert note(here, {"X-Plimsoll-Proxy": SECRET, "X-User": "zoe@example.org"}) == 303
        assert recorded(here) == [("zoe@example.org", "proxy", "made note 1: deployed")]


def test_the_groups_that_a_proxy_tells_give_roles(duckdb, tmp_path):
    roles = RolesOf({Role.VIEWER: ["staff"], Role.OPERATOR: ["ops", "night shift"], Role.ADMIN: ["root"]})
    proxy = TrustedProxy([ip_network("127.0.0.0/8")], "X-User", SECRET, roles, "Remote-Groups")
    with site(duckdb, with_users(tmp_path / "data"), login=True, proxy=proxy) as here:
        for name, groups, status in (
            ("zoe", "staff, night shift", 303),
            ("zoe", "staff", 403),
            ("zoe", "Ops,sales", 403),
            ("zoe", "", 403),
            ("viewer-1", "root", 403),  # what plimsoll users gives goes before
        ):
            sent = {"X-Plimsoll-Proxy": SECRET, "X-User": name, "Remote-Groups": groups}
            assert note(here, sent) == status, (name, groups)
        request = here.request(
            "GET", "/alerts", headers={"X-Plimsoll-Proxy": SECRET, "X-User": "zoe", "Remote-Groups": "a,b"}
        )
        assert "zoe: has no role here, nor has any of the groups a, b" in request.json()["message"]
        stranger = {"X-User": "zoe", "Remote-Groups": "root"}
        assert note(here, stranger) == 401  # without the secret of the proxy


def test_the_file_of_users_is_the_owners_alone_and_has_no_password(tmp_path):
    folder = with_users(tmp_path / "data")
    file = folder / users.FILE
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert WORD not in file.read_text()
    file.chmod(0o640)
    with pytest.raises(Unusable, match="others can read it"):
        users.load_users(folder)


def test_hashes_are_of_their_password_alone_and_cost_time_and_memory(monkeypatch):
    monkeypatch.setattr(secret_files, "_COST", COST_OF_A_PASSWORD)
    hashed = secret_files.hash_password(WORD)
    assert hashed.startswith("scrypt 16384 8 5 ")
    assert hashed != secret_files.hash_password(WORD)
    assert secret_files.is_right(WORD, hashed)
    for wrong in (WORD + " ", "", WORD[:-1]):
        assert not secret_files.is_right(wrong, hashed)
    for none in ("", "scrypt", "scrypt 1 2", "x:y", hashed.rpartition(" ")[0] + " "):
        assert not secret_files.is_right(WORD, none)


@run_each([("", WORD), ("a b", WORD), ("a:b", WORD), ("x" * 65, WORD), ("joe", "short")], named=repr)
def test_names_and_passwords_that_cannot_be_are_refused(case, tmp_path):
    tmp_path.chmod(0o700)
    name, password = case
    with pytest.raises(Unusable):
        users.add(tmp_path, name, Role.VIEWER, password)
    assert users.load_users(tmp_path) == []


def test_a_file_of_users_that_is_damaged_locks_nobody_out_who_is_in(elsewhere, caplog):
    assert elsewhere.request("GET", "/", headers=basic("viewer-1")).status == 200
    (elsewhere.folder / users.FILE).write_text("{")
    assert elsewhere.request("GET", "/", headers=basic("viewer-1")).status == 200
    assert elsewhere.request("GET", "/", headers=basic("viewer-1", "wrong password")).status == 401
    assert "what was known before holds until this is mended" in caplog.text
    with pytest.raises(Unusable, match="cannot be read"):
        users.UserFile(elsewhere.folder)
