"""The promises of docs/security.md on `plimsoll up`, each tried against a running server."""

import base64
import gzip
import socket
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager, suppress
from threading import Thread

import psutil
import pytest
import urllib3

from plimsoll.alerting.health import Health, HostHealth, HostState
from plimsoll.model.errors import Unreachable, Unusable
from plimsoll.serve.credentials import (
    Credentials,
    create_password,
    create_token,
    end_token,
    load_owner_token,
    make_missing,
)
from plimsoll.serve.limits import RequestLimits
from plimsoll.serve.listen import Listen, PublicAddress
from plimsoll.serve.serving import Certificate, Serving
from plimsoll.store.duck.duck_store import open_embedded
from plimsoll.store.remote import RemoteSamples
from tests.each import run_each
from tests.serve.site import EVERYWHERE, site, wait_until

HUNG_S = 300  # what is not closed after this is not closed at all
WRITE = "/api/v2/write?org=o&bucket=b"


@pytest.fixture
def elsewhere(duckdb, tmp_path):
    with site(duckdb, tmp_path / "elsewhere", listen=EVERYWHERE, hosts=["Plimsoll.example.org"]) as result:
        yield result


def basic(password, user="anyone"):
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


@run_each(
    [
        ("127.0.0.1:{port}", True),
        ("localhost:{port}", True),
        ("LOCALHOST.", True),
        ("[::1]:{port}", True),
        ("attacker.example:{port}", False),
        ("127.0.0.1.attacker.example", False),
        ("localhost.attacker.example:{port}", False),
        ("127.0.0.1@attacker.example", False),
        ("attacker.example@127.0.0.1", False),
        ("192.168.1.7:{port}", False),
        ("[::2]", False),
        ("", False),
    ],
    named=repr,
)
def test_only_names_of_the_server_lead_to_it(case, here):
    host, allowed = case
    for method, path in (("GET", "/"), ("POST", WRITE), ("GET", "/health"), ("POST", "/api/store/series")):
        status = here.request(method, path, b"", {"Host": host.format(port=here.port)}).status
        assert (status == 403) != allowed, (method, path)


def test_elsewhere_also_its_addresses_and_the_names_that_were_allowed(elsewhere):
    for host in ("192.168.1.7:8087", "plimsoll.example.org", "[2001:db8::1]:8087", socket.gethostname()):
        assert elsewhere.request("GET", "/ping", headers={"Host": host}).status == 204, host
    for host in ("attacker.example", "example.org", "x.plimsoll.example.org"):
        assert elsewhere.request("GET", "/ping", headers={"Host": host}).status == 403, host


@run_each(
    [
        ({"Origin": "http://127.0.0.1:{port}"}, True),
        ({"Origin": "http://127.0.0.1:{port}", "Sec-Fetch-Site": "same-origin"}, True),
        ({"Origin": "http://attacker.example"}, False),
        ({"Origin": "https://127.0.0.1:{port}"}, False),
        ({"Origin": "http://127.0.0.1:1"}, False),
        ({"Origin": "http://localhost:{port}"}, False),
        ({"Origin": "null"}, False),
        ({"Origin": ""}, False),
        ({"Sec-Fetch-Site": "cross-site"}, False),
        ({"Sec-Fetch-Site": "same-site"}, False),
        ({"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}, False),
    ],
    named=repr,
)
def test_pages_of_others_can_write_nothing(case, here):
    headers, allowed = case
    headers = {name: value.format(port=here.port) for name, value in headers.items()}
    assert here.request("POST", WRITE, b"cpu,host=a v=1", headers).status == (204 if allowed else 403)


def test_forms_of_the_public_address_are_taken_through_a_proxy_that_changes_the_name(duckdb, tmp_path):
    public = PublicAddress.parse("https://plimsoll.example.org:8443/")
    with site(duckdb, tmp_path / "data", login=True, url=public) as here:
        token = create_token(here.folder)
        for origin, status in (("https://plimsoll.example.org:8443", 204), ("https://plimsoll.example.org", 403)):
            assert here.post(b"cpu,host=a v=1", Authorization=f"Token {token}", Origin=origin).status == status


def test_a_link_on_another_page_may_be_followed_but_nothing_embedded(here):
    followed = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    assert here.request("GET", "/", headers=followed).status == 200
    assert here.request("GET", "/", headers={"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}).status == 403
    assert here.request("GET", "/", headers={"Origin": "http://attacker.example"}).status == 403


def test_elsewhere_a_token_is_needed_for_writing_and_a_password_for_reading(elsewhere):
    token, password = make_missing(elsewhere.folder).values()
    assert token
    assert password
    assert make_missing(elsewhere.folder) == {}
    assert elsewhere.post(b"cpu,host=a v=1").status == 401
    assert elsewhere.post(b"cpu,host=a v=1", Authorization=f"Token {password}").status == 401
    assert elsewhere.post(b"cpu,host=a v=1", Authorization=f"Token {token}").status == 204
    for path in ("/", "/static/frame.css", "/no/such/page"):
        refused = elsewhere.request("GET", path)
        assert (refused.status, refused.headers["WWW-Authenticate"][:5]) == (401, "Basic")
        assert b"Hosts" not in refused.data
    assert elsewhere.request("GET", "/", headers={"Authorization": basic(token)}).status == 401
    assert elsewhere.request("GET", "/", headers={"Authorization": basic(password)}).status == 200
    assert elsewhere.request("GET", "/ping").status == 204


def test_several_tokens_are_valid_side_by_side_until_each_is_ended(elsewhere):
    def status(token):
        return elsewhere.post(b"cpu,host=a v=1", Authorization=f"Token {token}").status

    first, web, db = (create_token(elsewhere.folder, name) for name in ("", "web", "db"))
    assert [*map(status, (first, web, db, "x"))] == [204, 204, 204, 401]
    end_token(elsewhere.folder, "web")
    newer = create_token(elsewhere.folder, "db")
    assert [*map(status, (first, web, db, newer))] == [204, 401, 401, 204]
    with pytest.raises(Unusable, match=r"no token web for samples; those with a name are: db"):
        end_token(elsewhere.folder, "web")
    with pytest.raises(Unusable, match="is no name of a token"):
        create_token(elsewhere.folder, "a b")


def test_secrets_are_stored_hashed_in_files_of_the_owner(tmp_path):
    folder = tmp_path / "data"
    folder.mkdir(mode=0o700)
    token, password = make_missing(folder).values()
    stored = "".join(file.read_text() for file in folder.iterdir())
    assert str(token) not in stored
    assert str(password) not in stored
    load_owner_token(folder)
    if sys.platform != "win32":
        assert {file.stat().st_mode & 0o777 for file in folder.iterdir()} == {0o600}
        (folder / "token").chmod(0o644)
        with pytest.raises(Unusable, match="others can read it"):
            load_owner_token(folder)


@pytest.mark.skipif(sys.platform == "win32", reason="no modes there")
def test_no_secret_is_stored_where_others_may_write(tmp_path):
    folder = tmp_path / "data"
    folder.mkdir()
    folder.chmod(0o777)
    with pytest.raises(Unusable, match="others may write"):
        Credentials(folder)
    assert list(folder.iterdir()) == []


def test_who_guesses_passwords_is_slowed_down(elsewhere):
    password = create_password(elsewhere.folder)
    for _ in range(5):
        assert elsewhere.request("GET", "/", headers={"Authorization": basic("guess")}).status == 401
    for guess in ("guess", password):
        answer = elsewhere.request("GET", "/", headers={"Authorization": basic(guess)})
        assert answer.status == 429
        assert 0 < int(answer.headers["Retry-After"]) <= 61


def test_the_store_is_reached_with_the_owners_token_only(here, elsewhere):
    call = b"[0, 1000000000000000000, []]"
    for server in (here, elsewhere):
        token, password = create_token(server.folder), create_password(server.folder)
        for authorization in ("", f"Bearer {token}", basic(password), "Bearer x"):
            headers = {"Authorization": authorization, "Content-Type": "application/json"}
            assert server.request("POST", "/api/store/series", call, headers).status == 401
        headers = {"Authorization": f"Bearer {load_owner_token(server.folder)}", "Content-Type": "application/json"}
        assert server.request("POST", "/api/store/series", call, headers).status == 200
        for odd in (b"", b"PLM1", call[:-5], b"x" * 100):
            assert server.request("POST", "/api/store/series", odd, headers).status == 400
        for method in ("close", "__class__", "_file"):
            assert server.request("POST", f"/api/store/{method}", call, headers).status == 404


def test_a_server_for_the_owners_commands_answers_nobody_else(duckdb, tmp_path):
    with site(duckdb, tmp_path / "data", owner_only=True) as here:
        for method, path in (("GET", "/"), ("POST", WRITE), ("GET", "/health"), ("POST", "/api/store/series")):
            assert here.request(method, path, b"").status == 401
        assert RemoteSamples(here.address, load_owner_token(here.folder)).hosts(0, 1) == []


def test_the_owners_token_is_sent_to_no_other_program(here):
    def another():
        raise ConnectionError("another program listens there")

    store = RemoteSamples(here.address, "secret", check=another)
    with pytest.raises(Unreachable, match="another program listens there"):
        store.hosts(0, 1)
    with pytest.raises(Unusable, match="does not accept the token"):
        RemoteSamples(here.address, "secret").hosts(0, 1)


@contextmanager
def limited(duckdb, tmp_path, **limits):
    with site(duckdb, tmp_path / "limited", limits=RequestLimits(**limits)) as result:
        yield result


def resident_mb():
    return psutil.Process().memory_info().rss / 2**20


def test_long_bodies_and_bombs_are_refused_in_little_memory(here):
    bomb = gzip.compress(b"cpu,host=a v=1\n" * (256 << 17))  # 256 MB
    before = resident_mb()
    answer = here.post(bomb, Content_Encoding="gzip")
    assert (answer.status, answer.json()["code"]) == (413, "request too large")
    assert here.post(b"cpu,host=a v=1 1\n" * 3_000_000).status == 413
    assert resident_mb() - before < 400
    assert here.stored() == {}
    assert here.post(b"cpu,host=a v=1\n").status == 204


def test_more_values_than_are_taken_at_once(here, monkeypatch):
    monkeypatch.setattr("plimsoll.receive.line_protocol.parse.MOST_VALUES", 1_000)
    assert here.post(b"cpu,host=a v=1\n" * 1_001).status == 413
    assert here.post(b"cpu,host=a v=1\n" * 1_000).status == 204


def test_bodies_of_many_requests_have_a_limit(duckdb, tmp_path):
    with limited(duckdb, tmp_path, memory=100_000) as here:
        assert here.post(b"cpu,host=a v=1 1\n" * 20_000).status == 503
        assert here.post(b"cpu,host=a v=1 1\n").status == 204


@contextmanager
def raw(here, sent=b""):
    """A connection on which something was sent."""
    with socket.create_connection(("127.0.0.1", here.port), timeout=HUNG_S) as connection:
        connection.sendall(sent)
        yield connection


def received_until_closed(connection):
    """All that the server sends until it closes the connection, which it would never do if it had no limit."""
    connection.settimeout(HUNG_S)
    received = b""
    try:
        while part := connection.recv(4096):
            received += part
    except ConnectionResetError:
        pass
    return received


def post_head(length, host="localhost"):
    return f"POST /write?db=x HTTP/1.1\r\nHost: {host}\r\nContent-Length: {length}\r\n\r\n".encode()


@pytest.fixture(scope="module")
def impatient(tmp_path_factory):
    folder = tmp_path_factory.mktemp("impatient")
    store = open_embedded(folder / "plimsoll.duckdb")
    with site(store, folder / "data", limits=RequestLimits(head_s=0.7, pause_s=0.7, body_s=2, idle_s=1)) as result:
        yield result
    store.close()


def test_connections_on_which_nothing_comes_are_closed(impatient):
    with raw(impatient) as silent:
        assert received_until_closed(silent) == b""
    with raw(impatient, b"GET /ping HTTP/1.1\r\nHost: localhost\r\n\r\n") as idle:
        assert b" 204 " in received_until_closed(idle)


def test_heads_that_come_slowly_are_not_waited_for(impatient):
    began = time.monotonic()
    with raw(impatient, b"GET / HTTP/1.1\r\n") as slow:
        while time.monotonic() - began < HUNG_S:
            time.sleep(0.2)
            try:
                slow.sendall(b"X: y\r\n")
            except OSError:
                break
    assert time.monotonic() - began < HUNG_S


def test_bodies_that_come_slowly_are_not_waited_for(impatient):
    with raw(impatient, post_head(100) + b"cpu") as slow:
        assert b" 408 " in received_until_closed(slow)
    with raw(impatient, post_head(100)) as slow:
        began = time.monotonic()
        slow.settimeout(0.3)
        answer = b""
        while not answer and time.monotonic() - began < HUNG_S:
            slow.sendall(b"x")
            with suppress(TimeoutError):
                answer = slow.recv(4096)
    assert b" 408 " in answer
    assert time.monotonic() - began < HUNG_S


def test_what_was_refused_already_is_not_read_for_long(impatient):
    with raw(impatient, post_head(10**9, "attacker") + b"cpu") as refused:
        assert b" 403 " in received_until_closed(refused)


def test_long_heads_and_many_connections_are_refused(duckdb, tmp_path):
    with limited(duckdb, tmp_path, connections=10) as here:
        with raw(here, b"GET /ping HTTP/1.1\r\nHost: localhost\r\nX: " + b"y" * 60_000) as endless:
            assert received_until_closed(endless).startswith(b"HTTP/1.1 400 ")
        with ExitStack() as many:
            for _ in range(12):
                many.enter_context(raw(here))
            assert here.post(b"cpu,host=a v=1").status == 503
            assert here.request("GET", "/ping").status == 204
        wait_until(lambda: here.serving.connections[0] < 10)
        assert here.post(b"cpu,host=a v=1").status == 204


HEADERS = {
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cache-Control": "no-store",
}


def test_every_answer_has_the_headers_of_safety(duckdb, tmp_path):
    def defect():
        raise RuntimeError

    with site(duckdb, tmp_path / "data", health=defect) as here:
        answers = [
            here.request("GET", "/"),  # fails
            here.request("GET", "/static/frame.css"),
            here.request("GET", "/none"),
            here.request("GET", "/ping", headers={"Host": "attacker"}),
            here.post(b"cpu v"),
        ]
    assert [item.status for item in answers] == [500, 200, 404, 403, 400]
    for answer in answers:
        assert {name: answer.headers[name] for name in HEADERS} == HEADERS
        policy = answer.headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "Server" not in answer.headers


def test_what_has_to_be_mended_is_on_the_page_and_not_in_the_answer_to_anyone(duckdb, tmp_path):
    with site(duckdb, tmp_path / "data", health=lambda: Health(problems=["The disk of 10.1.2.3 is full"])) as here:
        answer = here.request("GET", "/health")
        assert (answer.status, answer.json()["status"]) == (503, "fail")
        assert b"10.1.2.3" not in answer.data
        assert b"10.1.2.3" in here.request("GET", "/").data


def test_its_own_metrics_need_the_password_where_pages_do(duckdb, tmp_path):
    hosts = [HostHealth("web1", HostState.ALERT), HostHealth("web2", HostState.HEALTHY)]

    def health():
        return Health(hosts=hosts, problems=["full"], points_a_minute=7, evaluated=9 * 10**9, info=2)

    with site(duckdb, tmp_path / "data", listen=EVERYWHERE, health=health) as here:
        assert here.request("GET", "/metrics").status == 401
        password = create_password(here.folder)
        answer = here.request("GET", "/metrics", headers={"Authorization": basic(password)})
    lines = answer.data.decode().splitlines()
    assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
    for line in (
        'plimsoll_hosts{state="alert"} 1',
        'plimsoll_hosts{state="silent"} 0',
        'plimsoll_alerts_firing{severity="info"} 2',
        "plimsoll_problems 1",
        "plimsoll_values_last_minute 7",
        "plimsoll_last_evaluation_seconds 9",
    ):
        assert line in lines


@pytest.fixture(scope="module")
def certificate(tmp_path_factory, installed):
    folder = tmp_path_factory.mktemp("certificate")
    result = Certificate(folder / "certificate.pem", folder / "key.pem")
    subprocess.run(
        [
            *(installed("openssl", "openssl"), "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"),
            *("-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:plimsoll.example.org"),
            *("-keyout", str(result.key), "-out", str(result.chain)),
        ],
        check=True,
        capture_output=True,
    )
    return result


def test_tls_by_certificate_files(duckdb, tmp_path, certificate):
    with site(duckdb, tmp_path / "data", certificate=certificate) as here:
        assert here.address.startswith("https://")
        origin = {"Origin": here.address}
        with urllib3.PoolManager(
            ca_certs=str(certificate.chain), assert_hostname="plimsoll.example.org", retries=False
        ) as trusting:
            assert trusting.request("POST", here.address + WRITE, body=b"cpu,host=a v=1", headers=origin).status == 204
        with pytest.raises(Unreachable, match="certificate"):
            RemoteSamples(here.address, load_owner_token(here.folder)).hosts(0, 1)


def test_connections_that_begin_no_tls_have_their_share_and_are_closed_soon(duckdb, tmp_path, certificate):
    """4,096 of them used all files that the process may open: nobody could connect, and no file could be opened."""
    limits = RequestLimits(connections=40, address_connections=10, head_s=1)
    with site(duckdb, tmp_path / "data", certificate=certificate, limits=limits) as here, ExitStack() as many:
        rows = [many.enter_context(raw(here)) for _ in range(30)]
        assert [received_until_closed(item) for item in rows] == [b""] * 30
        with urllib3.PoolManager(ca_certs=str(certificate.chain), assert_hostname="plimsoll.example.org") as trusting:
            assert trusting.request("GET", here.address + "/ping", retries=False).status == 204


def test_wrong_certificate_files_are_one_error(tmp_path, certificate):
    text = tmp_path / "text"
    text.write_text("no certificate")
    for wrong in (
        Certificate(text, certificate.key),
        Certificate(certificate.chain, text),
        Certificate(certificate.chain, tmp_path / "missing"),
        Certificate(certificate.key, certificate.chain),
    ):
        with pytest.raises(Unusable) as refused:
            wrong.check()
        assert "\n" not in str(refused.value)


def test_a_port_in_use_is_one_error(here):
    async def app(*_):
        pass

    with pytest.raises(Unusable, match=r"127\.0\.0\.1:\d+: cannot listen there: Address already in use; "):
        Serving(app, Listen("127.0.0.1", here.port))
    with pytest.raises(Unusable, match="cannot listen there"):
        Serving(app, Listen("192.0.2.1", 0))


def test_a_stop_answers_what_was_begun(duckdb, tmp_path):
    with site(duckdb, tmp_path / "data") as here, raw(here) as idle, raw(here, post_head(17) + b"cpu,host=a") as writer:
        wait_until(lambda: here.serving.connections[0] == 2)
        time.sleep(0.3)
        stopping = Thread(target=here.serving.stop)
        stopping.start()
        time.sleep(0.3)
        writer.sendall(b" v=1 7\n")
        assert b" 204 " in received_until_closed(writer)
        assert received_until_closed(idle) == b""
        stopping.join(HUNG_S)
        assert not stopping.is_alive()
        assert list(here.stored().values()) == [1]
