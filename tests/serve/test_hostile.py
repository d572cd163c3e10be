"""Attacks on a running server, and the bounds on their effects."""

import asyncio
import base64
import logging
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from select import select
from threading import Event, Thread, current_thread

import pytest
import urllib3

from plimsoll.alerting.health import Health
from plimsoll.model.errors import Unusable
from plimsoll.receive.line_protocol.parse import Parser
from plimsoll.serve import users
from plimsoll.serve.credentials import Credentials, create_password, create_token
from plimsoll.serve.limits import RequestLimits
from plimsoll.serve.principals import Person, Role
from plimsoll.serve.request_identity import PasswordCheck
from tests.each import run_each
from tests.serve.site import EVERYWHERE, site, wait_until

WRITE = "/api/v2/write?org=o&bucket=b"


def basic(password):
    return {"Authorization": "Basic " + base64.b64encode(f"x:{password}".encode()).decode()}


class Slow(Credentials):
    """Credentials that count the passwords they are asked for, and answer when they are let."""

    def __init__(self, folder):
        super().__init__(folder)
        self.requests, self.let, self.right = [], Event(), ""

    def may_read(self, password):
        self.requests.append(password)
        self.let.wait(300)
        return super().may_read(password)


@pytest.fixture
def slow(tmp_path):
    folder = tmp_path / "secrets"
    folder.mkdir(mode=0o700)
    result = Slow(folder)
    result.right = create_password(folder)
    yield result
    result.let.set()


def answers(credentials, attempts):
    """What many attempts at once come to."""

    async def all_at_once():
        check = PasswordCheck(credentials)
        tasks = [asyncio.create_task(check.check(address, "joe", password)) for address, password in attempts]
        await asyncio.sleep(0.05)
        credentials.let.set()
        return [outcome(item) for item in await asyncio.gather(*tasks)]

    return run(all_at_once())


def outcome(answer):
    """The person, or the status of the refusal."""
    return answer if isinstance(answer, Person) else answer.status_code


def run(coroutine):
    """What it comes to, in a thread of its own: in this one Playwright may have a loop that runs."""
    with ThreadPoolExecutor(1) as beside:
        return beside.submit(asyncio.run, coroutine).result()


def test_of_many_wrong_passwords_at_once_no_more_are_tested_than_of_one_after_another(slow, caplog):
    result = answers(slow, [("192.0.2.1", f"guess {at}") for at in range(400)])
    assert len(slow.requests) == 5
    assert (result.count(401), result.count(429)) == (5, 395)
    assert "a wrong password from 192.0.2.1" in caplog.text
    assert "guess" not in caplog.text


def test_of_many_addresses_only_some_passwords_wait_to_be_tested(slow):
    result = answers(slow, [(f"192.0.2.{at}", "guess") for at in range(100)])
    assert len(slow.requests) == 8
    assert (result.count(401), result.count(503)) == (8, 92)


def test_the_first_page_of_a_browser_is_one_attempt_and_the_next_are_none(slow):
    everybody = Person("", Role.ADMIN, "shared password")
    assert answers(slow, [("192.0.2.1", slow.right)] * 30) == [everybody] * 30
    assert len(slow.requests) == 1


def test_whoever_has_a_password_cannot_guess_those_of_others_without_end(tmp_path):
    """Each right password allowed five wrong attempts, and a user's name has many spellings."""
    folder = tmp_path / "secrets"
    folder.mkdir(mode=0o700)
    users.add(folder, "viewer", Role.VIEWER, "correct horse battery")
    users.add(folder, "admin", Role.ADMIN, "another horse battery")
    check = PasswordCheck(Credentials(folder))

    async def guess():
        for at in range(20):
            join = "".join(c.upper() if at >> bit & 1 else c for bit, c in enumerate("viewer"))
            yield await check.check("192.0.2.1", join, "correct horse battery")
            yield await check.check("192.0.2.1", "admin", f"guess {at}")

    async def all_of_them():
        return [outcome(item) async for item in guess()]

    assert run(all_of_them()).count(401) == 5


def test_health_is_answered_while_passwords_and_pages_take_all_threads(duckdb, tmp_path):
    stuck, entered = Event(), Event()

    def progress():
        entered.set()
        stuck.wait(300)
        raise Unusable("enough")

    with site(duckdb, tmp_path / "data", progress=progress) as here:
        asking = [Thread(target=here.request, args=("GET", "/alerts"), daemon=True) for _ in range(50)]
        for item in asking:
            item.start()
        assert entered.wait(300)
        assert here.request("GET", "/health").status == 200
        assert here.request("GET", "/ping").status == 204
        stuck.set()
        for item in asking:
            item.join(300)


def test_health_is_found_once_for_all_who_ask_at_the_same_time(duckdb, tmp_path):
    """Anyone may ask without a password, and each answer reads the alert loop's data."""
    go_on, result, statuses = Event(), [], []

    def health():
        result.append(1)
        go_on.wait(300)
        return Health()

    with site(duckdb, tmp_path / "data", listen=EVERYWHERE, health=health) as here:
        asking = [
            Thread(target=lambda: statuses.append(here.request("GET", "/health").status), daemon=True)
            for _ in range(60)
        ]
        for item in asking:
            item.start()
        wait_until(lambda: here.serving.connections[0] == 60)
        go_on.set()
        for item in asking:
            item.join(300)
    assert statuses == [200] * 60
    assert len(result) < 20


def test_an_address_has_two_pages_computed_at_a_time_and_the_judging_goes_on(duckdb, tmp_path):
    """40 requests for 60 charts each took 40 threads, which left little time for the alert loop."""
    stuck, entered, statuses = Event(), [], []

    def progress():
        if current_thread().name != "health follower":
            entered.append(1)
            stuck.wait(300)
        raise Unusable("enough")

    def ask(source):
        pool = urllib3.HTTPConnectionPool(
            "127.0.0.1", here.port, source_address=(source, 0), timeout=300, retries=False
        )
        statuses.append(pool.request("GET", "/alerts").status)

    with site(duckdb, tmp_path / "data", progress=progress) as here:
        asking = [Thread(target=ask, args=("127.0.0.1",), daemon=True) for _ in range(70)]
        for item in asking:
            item.start()
        while len(statuses) < 4:  # those that are refused
            time.sleep(0.05)
        assert len(entered) == 2
        asking.append(Thread(target=ask, args=("127.0.0.2",), daemon=True))
        asking[-1].start()
        while len(entered) < 3:
            time.sleep(0.05)
        assert here.post(b"cpu,host=a v=1").status == 204
        stuck.set()
        for item in asking:
            item.join(300)
    assert len(entered) == 67
    assert statuses.count(503) == 4


def test_an_address_holds_no_more_than_its_share_of_the_connections(duckdb, tmp_path):
    limits = RequestLimits(connections=40, address_connections=10)
    with site(duckdb, tmp_path / "data", limits=limits) as here:
        rows = [socket.create_connection(("127.0.0.1", here.port)) for _ in range(30)]
        closed: set[socket.socket] = set()
        while len(closed) < 20:
            ended, _, _ = select([entry for entry in rows if entry not in closed], [], [], 120)
            assert ended, f"{len(closed)} were closed"
            closed.update(ended)  # nothing is sent on any: what can be read is that it ended
        assert select([entry for entry in rows if entry not in closed], [], [], 0.2) == ([], [], [])
        with socket.create_connection(("127.0.0.1", here.port), source_address=("127.0.0.2", 0)) as honest:
            honest.sendall(
                f"POST {WRITE} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 14\r\n\r\ncpu,host=a v=1".encode()
            )
            assert b" 204 " in honest.recv(1000)
        for item in rows:
            item.close()


def test_an_address_that_sends_bodies_slowly_leaves_room_for_those_of_others(duckdb, tmp_path):
    with (
        site(duckdb, tmp_path / "data", limits=RequestLimits(memory=5000, address_memory=2000)) as here,
        ExitStack() as result,
    ):
        head = f"POST {WRITE} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000\r\n\r\n".encode()
        slow = [result.enter_context(socket.create_connection(("127.0.0.1", here.port))) for _ in range(3)]
        answered: set[socket.socket] = set()
        for item in slow:
            item.sendall(head + b"#" * 900)
        while not answered:
            answered.update(select(slow, [], [], 120)[0])
        assert [b" 503 " in entry.recv(1000) for entry in answered] == [True]
        pool = urllib3.HTTPConnectionPool("127.0.0.1", here.port, source_address=("127.0.0.2", 0), retries=False)
        assert pool.request("POST", WRITE, body=b"cpu,host=a v=1\n" + b"#" * 1900).status == 204


def test_long_bodies_hold_up_no_short_ones(duckdb, tmp_path, monkeypatch):
    stuck, entered = Event(), []
    parse = Parser.parse

    def slowly(self, body, **named):
        if len(body) > 100:
            entered.append(1)
            stuck.wait(300)
        return parse(self, body, **named)

    def send(source, body):
        pool = urllib3.HTTPConnectionPool(
            "127.0.0.1", here.port, source_address=(source, 0), timeout=300, retries=False
        )
        statuses.append(pool.request("POST", WRITE, body=body).status)

    monkeypatch.setattr(Parser, "parse", slowly)
    monkeypatch.setattr("plimsoll.serve.write_handler._SHORT", 100)
    statuses = []
    with site(duckdb, tmp_path / "data") as here:
        long = b"cpu,host=a v=1\n" * 20
        senders = [Thread(target=send, args=(f"127.0.0.{at}", long), daemon=True) for at in range(2, 6)]
        for sender in senders:
            sender.start()
        wait_until(lambda: entered)
        send("127.0.0.9", b"cpu,host=a v=2\n")
        assert statuses == [204]
        stuck.set()
        for sender in senders:
            sender.join(300)
    assert statuses == [204] * 5


def test_of_more_agents_than_there_is_room_for_the_next_come_back_and_people_are_answered(duckdb, tmp_path):
    limits = RequestLimits(connections=10, reserved=5, address_connections=100)
    with site(duckdb, tmp_path / "data", limits=limits) as here, ExitStack() as result:
        write = f"POST {WRITE} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 14\r\n\r\ncpu,host=a v=1".encode()

        def connected():
            return result.enter_context(socket.create_connection(("127.0.0.1", here.port)))

        agents = [connected() for _ in range(10)]
        for agent in agents:
            agent.sendall(write)
            assert b" 204 " in agent.recv(1000)
        assert here.serving.connections == (10, 10)
        late = connected()
        late.sendall(write)
        refused = b"".join(iter(lambda: late.recv(1000), b""))  # until it is closed
        assert b" 503 " in refused
        assert b"retry-after: 30" in refused.lower()
        for path, status in (("/ping", 204), ("/health", 200), ("/", 200)):
            assert here.request("GET", path).status == status
        agents[0].sendall(write)  # those that were there go on
        assert b" 204 " in agents[0].recv(1000)
        agents.pop().close()
        wait_until(lambda: here.serving.connections[0] < 10)
        assert here.post(b"cpu,host=a v=1").status == 204


@run_each(["Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-IP"], named=str)
def test_without_a_login_nothing_is_answered_that_a_proxy_passes_on(name, here):
    for method, path in (("GET", "/"), ("POST", WRITE)):
        refused = here.request(method, path, b"", {name: "192.0.2.1"})
        assert refused.status == 403
        assert b"login = " in refused.data


def test_a_login_is_needed_on_the_loopback_address_too_if_up_toml_says_so(duckdb, tmp_path, caplog):
    with site(duckdb, tmp_path / "data", login=True, hosts=["plimsoll.example.org"]) as here:
        token, password = create_token(here.folder), create_password(here.folder)
        assert here.request("GET", "/").status == 401
        assert here.post(b"cpu,host=a v=1").status == 401
        assert here.post(b"cpu,host=a v=1", Authorization="Token no").status == 401
        assert here.post(b"cpu,host=a v=1", Authorization=f"Token {token}").status == 204
        proxied = {"Host": "plimsoll.example.org", "X-Forwarded-For": "203.0.113.9, 192.0.2.7"}
        fields = {"Origin": "https://plimsoll.example.org", **proxied}
        assert here.request("GET", "/", headers={**fields, **basic(password)}).status == 200
        other = {**proxied, "Origin": "https://attacker.example"}
        assert here.request("GET", "/", headers={**other, **basic(password)}).status == 403
        for _ in range(5):
            assert here.request("GET", "/", headers={**proxied, **basic("guess")}).status == 401
        assert here.request("GET", "/", headers={**proxied, **basic("guess")}).status == 429
        assert here.request("GET", "/", headers=basic(password)).status == 200
    rows = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    assert "a wrong password from 192.0.2.7" in rows
    assert "a wrong token from 127.0.0.1" in rows


def test_elsewhere_a_proxy_may_pass_on_what_has_a_login(duckdb, tmp_path):
    with site(duckdb, tmp_path / "data", listen=EVERYWHERE) as here:
        password = create_password(here.folder)
        assert here.request("GET", "/", headers={"X-Forwarded-For": "192.0.2.1", **basic(password)}).status == 200


ODD = [
    "/alerts?from=now-99999999999d",
    "/dashboards/cpu?from=now-99999999999d",
    f"/dashboards/cpu?from=now-{'9' * 5000}d",
    "/dashboards/cpu?from=-9999999999999999",
    f"/alerts/{'9' * 20}",
    f"/alerts/{'9' * 5000}",
    f"/alerts?page={'9' * 30}&firing={'9' * 30}",
    f"/silences/matches?rule={'*' * 2000}",
    f"/?silenced={'9' * 30}",
]


def test_no_number_in_an_address_is_a_defect(here):
    for path in ODD:
        assert here.request("GET", path).status in (200, 400, 404), path
    for path in (f"/silences/{'9' * 20}/end", f"/alerts/{'9' * 20}/ack", f"/silences/{'9' * 5000}/end"):
        assert here.request("POST", path, b"note=x").status in (404, 405, 422), path
    for length in ("99999999999999d", f"{'9' * 400}d", "1e99", "nan", "-1h", ""):
        for alert in ("", "9" * 20, "9" * 5000):
            form = f"rule=windows-*&host=*&instance=*&length={length}&reason=x&who=y&alert={alert}".encode()
            assert here.request("POST", "/silences", form).status in (404, 422), (length, alert)
