"""Notifications arrive at a real webhook, are not lost, and keep their addresses secret."""

import json
import logging
import os
import subprocess
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread

import pytest
from apprise.plugins.opsgenie import OPSGENIE_API_LOOKUP
from apprise.plugins.pagerduty import PAGERDUTY_API_LOOKUP

from plimsoll.alerting.alert_history import read_last_evaluation
from plimsoll.alerting.alerts_file import AlertsFile
from plimsoll.model.errors import Unusable
from plimsoll.model.parameters import Parameter
from plimsoll.model.times import SECOND
from plimsoll.notify.delivery import make_sender, make_senders
from plimsoll.notify.heartbeat import Heartbeat
from plimsoll.notify.messages import Message
from plimsoll.notify.redaction import hide, redact_address
from plimsoll.notify.targets import LATEST_STEP, STUCK_AFTER, Notifier
from plimsoll.up.settings import FILE_NAME, UpSettings, load, parse
from tests.alerting.world import CPU, MINUTE, World
from tests.each import run_each

ROOT = Path(__file__).parents[2]


class Hook:
    """A receiver: `got` are the documents it was sent, `answer` its status; while `goes_on` is not set it waits."""

    def __init__(self):
        self.got, self.asked, self.answer, self.goes_on = [], [], 200, Event()
        self.goes_on.set()
        hook = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                hook.got.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
                hook.goes_on.wait(300)
                self.send_response(hook.answer)
                self.end_headers()

            def do_GET(self):
                hook.asked.append(self.path)
                self.send_response(hook.answer)
                self.send_header("Location", "/elsewhere")
                self.end_headers()

            def log_message(self, format, *args):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.address = f"127.0.0.1:{self._server.server_port}"
        Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.goes_on.set()
        self._server.shutdown()
        self._server.server_close()


def settings(**addresses) -> UpSettings:
    text = "".join(f'[notify.{name}]\nurl = "{address}"\n' for name, address in addresses.items())
    return parse(text.encode(), Path(FILE_NAME))


def until(condition, patience_s=600):
    end = time.monotonic() + patience_s
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.fixture
def hook():
    with Hook() as result:
        yield result


def notifier_of(world, values, pages="http://127.0.0.1:8087"):
    return Notifier(world.file, values, make_senders(values, FILE_NAME), now=time.time_ns(), pages=pages)


def test_a_webhook_gets_the_alert_once_and_then_its_recovery(world, hook):
    world.at = time.time_ns() // (10 * SECOND) * 10 * SECOND
    notifier = notifier_of(world, settings(hook=f"json://{hook.address}/"))
    notifier.start()
    lines = ["processor time: sqlservr (812) 240 %, backup (90) 12 %"]
    world.step((CPU, "WEB01"), processes={"WEB01": lines})
    notifier.stepped(world.at)
    until(lambda: hook.got)
    until(lambda: world.file.rows("SELECT * FROM told"))  # written down after it was sent
    world.step()
    world.file.rows("UPDATE told SET at = at - 100000000000")  # a minute passes
    notifier.stepped(world.at)
    until(lambda: len(hook.got) == 2)
    notifier.stop()
    fired, ended = hook.got
    assert fired["title"] == "CRITICAL: WEB01 is short of processors (Processor time 95 %)"
    assert fired["type"] == "failure"
    result = fired["message"].split("\n")
    assert result[0] == "WEB01 is short of processors; inferred from 1 signal."
    assert result[1] == "Processor time on WEB01: 95 % (1 min mean); it should stay at or below 90 %."
    assert result[2].startswith(f"critical, {CPU}: since 20")
    assert any(line.startswith("Source: ") for line in result)
    assert any(line.startswith("Look at: ") for line in result)
    assert f"Processes then: {lines[0]}" in result
    assert result[-1] == "http://127.0.0.1:8087/alerts/1"
    assert ended["title"] == "Recovered: Processor time on WEB01"


def test_a_server_that_does_not_answer_delays_neither_the_loop_nor_the_others(world, hook):
    result, answered = Event(), Event()

    def stuck(message):
        result.set()
        assert answered.wait(600), "whoever waits for this server would do so until the test has ended"

    world.at = time.time_ns()
    outcome = settings(a="json://127.0.0.1:9/", b=f"json://{hook.address}/")
    fields = {**make_senders(outcome, FILE_NAME), "a": stuck}
    notifier = Notifier(world.file, outcome, fields, now=time.time_ns(), pages="http://127.0.0.1:8087")
    notifier.start()
    world.step("WEB01")
    notifier.stepped(world.at)
    until(lambda: hook.got and result.is_set())
    world.step("WEB01", "WEB02")  # the book is not locked while a message is on its way
    answered.set()
    notifier.stop()


KILLED_WHILE_SENDING = """
import os, signal, sys
from pathlib import Path
from plimsoll.alerting.alerts_file import AlertsFile
from tests.alerting.world import Phone, World

world = World(AlertsFile(Path(sys.argv[1])))
phone = Phone(world)
world.step("WEB01", "WEB02")

def send(message):
    print(message.title, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)

phone.target._send = send
phone.tick()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")
def test_a_message_is_not_lost_when_its_sender_is_killed(tmp_path):
    from tests.alerting.world import Phone

    path = tmp_path / "alerts.db"
    run = subprocess.run(
        [sys.executable, "-c", KILLED_WHILE_SENDING, path], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert run.stdout.count("CRITICAL") == 1, run.stderr
    world = World(AlertsFile(path))
    world.at = read_last_evaluation(world.file) or 0
    world.firing = {(CPU, "WEB01", None): 1, (CPU, "WEB02", None): 1}
    phone = Phone(world)
    phone.step("WEB01", "WEB02", times=12)
    assert sorted(phone.titles) == [
        f"CRITICAL: WEB0{n} is short of processors (Processor time 95 %)" for n in (1, 2)
    ]  # one of them again
    world.file.close()


def test_a_webhook_that_leads_elsewhere_is_not_followed_and_counts_as_not_sent(hook):
    """A followed redirect becomes a GET without the text, but with the headers that contain secrets."""
    entries = []

    class Leads(BaseHTTPRequestHandler):
        def do_POST(self):
            self.rfile.read(int(self.headers["Content-Length"]))
            entries.append(self.path)
            self.send_response(302)
            self.send_header("Location", f"http://{hook.address}/")
            self.end_headers()

        def log_message(self, format, *args):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Leads) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        for text in ("", "?redirect=yes"):
            address = f"json://127.0.0.1:{server.server_port}/x{text}"
            send = make_sender(address, "notify.hook.url")
            assert send(Message("title", "body", "critical")) is not None
        server.shutdown()
    assert len(entries) == 2
    assert hook.got == []


def test_mail_that_may_go_in_clear_text_is_warned_of(caplog):
    make_sender("mailto://joe:pa55word@example.com", "up.toml: notify.mail.url")
    make_sender("mailtos://joe:pa55word@example.com", "up.toml: notify.other.url")
    rows = [record.getMessage() for record in caplog.records]
    assert [item.partition(": mailto://")[0] for item in rows] == ["up.toml: notify.mail.url"]
    assert "pa55word" not in caplog.text


@pytest.mark.parametrize(
    "name", ["[your bank](https://evil.example)", "[a][1]", "<https://evil.example|your bank>", "[1]: https://evil"]
)
def test_names_cannot_show_a_link_under_other_words(name, phone):
    phone.step(name)
    ((_, message),) = phone.sent
    for text in (message.title, message.body):
        assert "](" not in text
        assert "][" not in text
        assert "]:" not in text
        assert "<http" not in text


def test_names_cannot_call_everybody_in_a_chat_or_break_a_line(phone):
    phone.step("<!channel>@everyone\nSubject: x\u202e")
    ((_, message),) = phone.sent
    assert message.title == (
        r"CRITICAL: <! channel>@ everyone\nSubject: x\u202e is short of processors (Processor time 95 %)"
    )
    assert "@everyone" not in message.body
    assert "!channel" not in message.body
    assert "\nSubject" not in message.body


SECRETS = ("T1JJ3T3L2", "TIiajkdnlazkcOXrIdevi7FQ", "pa55word", "hdr5ecret", "t0kent0ken")
ADDRESSES = {
    "slack": ("slack://T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ/#general", "slack://****"),
    "native": ("https://hooks.slack.com/services/T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ", "https://hooks.slack.com/****"),
    "hook": ("json://joe:pa55word@127.0.0.1:9/t0kent0ken?+X-Key=hdr5ecret", "json://127.0.0.1:9/****"),
    "mail": ("mailto://joe:pa55word@127.0.0.1:9?to=ann@example.com&from=joe@example.com", "mailto://****"),
    "slash": ("mailto://joe:12/pa55word@example.com", "mailto://****"),
    "topic": ("ntfy://t0kent0ken", "ntfy://****"),
    "none": ("pa55word", "****"),
}  # fmt: skip


@run_each(ADDRESSES.items(), named=lambda case: case[0])
def test_addresses_are_shown_without_secrets(case):
    address, shown = case[1]
    assert redact_address(address) == shown
    result = hide(f"cannot reach {address}: /t0kent0ken with pa55word failed, X-Key: hdr5ecret", [address])
    assert not [text for text in SECRETS if text in result and text in address]


def test_no_secret_of_an_address_is_logged_or_kept(world, hook, caplog):
    caplog.set_level(logging.DEBUG)
    hook.answer = 500
    target = f"json://joe:pa55word@{hook.address}/t0kent0ken?+X-Key=hdr5ecret"
    result = settings(
        hook=target, closed=ADDRESSES["hook"][0], mail=ADDRESSES["mail"][0] + "&smtp=127.0.0.1&mode=insecure"
    )
    notifier = notifier_of(world, result)
    world.step("WEB01")
    for item in notifier.targets:
        item.tick(world.at + MINUTE)
    logged = caplog.text + "".join(str(vars(record)) for record in caplog.records)
    assert "a notification could not be sent" in logged
    kept = "".join(
        str(tuple(row)) for table in ("targets", "notifications") for row in world.file.rows(f"SELECT * FROM {table}")
    )
    assert all(state.failing_since and state.error for state in notifier.states())
    shown = logged + kept + repr(result) + str(notifier.states())
    assert [secret for secret in SECRETS if secret in shown] == []
    with pytest.raises(Unusable) as error:
        make_senders(settings(wrong="slack://pa55word"), "up.toml")
    assert str(error.value).startswith("up.toml: notify.wrong.url: apprise cannot use the address slack://****: ")


def test_the_heartbeat_stops_when_nobody_can_rely_on_notifications(world, hook):
    heart_hook = hook
    notifier = notifier_of(world, settings(hook="json://127.0.0.1:9/"))
    now = time.time_ns()
    beat = Heartbeat(f"http://{heart_hook.address}/ping/t0kent0ken", notifier.trouble)

    def beats(minutes, stepping=True):
        nonlocal now
        before = len(heart_hook.asked)
        for _ in range(minutes * 6):
            now += 10 * SECOND
            if stepping:
                notifier.stepped(now)
            beat.tick(now)
        return len(heart_hook.asked) - before

    assert beats(5) == 5
    assert beats(5, stepping=False) <= LATEST_STEP // MINUTE + 1
    assert beats(5) == 5
    world.at = now
    world.step("WEB01")
    notifier.targets[0].tick(now)
    assert beats(10) == 10  # a failure may be brief
    assert beats(30) == STUCK_AFTER // MINUTE - 10
    assert "notification to hook fails since" in (notifier.trouble(now) or "")


BAD = (
    ('[notify.mail]\nurll = "x"', "notify.mail.url is missing"),
    ('[notify.mail]\nurl = "x"\nfoo = 1', "notify.mail.foo: unknown setting"),
    ('[notify.mail]\nurl = "x"\nseverities = ["bad"]', "notify.mail.severities.1: input should be"),
    ('[quiet]\nhours = [{from = "25:00"}]', "quiet.hours.1.from: is not a time of the day; write it like 22:00"),
    ('[quiet]\nhours = [{days = ["monday"]}]', "quiet.hours.1.days.1: input should be 'mon'"),
    ('[store]\nsize = "much"', "store.size: is not a size; write it like 20 GB"),
    ('[store]\naddress = "influx"', "store.address: is not an http:// or https:// address"),
    ('[roster]\nsilent_after = "1s"', "roster.silent_after: is shorter than 30s"),
    ('zone = "Mars"', 'zone: zone "Mars" is not known'),
    ('[heartbeat]\nurl = "file:///etc/pa55word"', "heartbeat.url: is not an http:// or https:// address"),
    ('[notify.mail]\nurl = "slack://pa55word', "not valid TOML"),
    ("[notify]\nmail = 'pa55word'", "notify.mail: input should be a valid dictionary"),
)


@run_each(BAD, named=lambda case: case[1])
def test_mistakes_in_up_toml_are_named_without_the_address(case):
    with pytest.raises(Unusable) as error:
        parse(case[0].encode(), Path("up.toml"))
    assert case[1] in str(error.value)
    assert str(error.value).startswith("up.toml: ")
    assert "pa55word" not in str(error.value)


@pytest.mark.skipif(sys.platform == "win32", reason="modes and owners")
def test_up_toml_counts_only_if_nobody_else_can_write_it(tmp_path):
    folder = tmp_path / "data"
    folder.mkdir(mode=0o700)
    assert load(folder) == UpSettings()
    path = folder / FILE_NAME
    path.write_text('zone = "Europe/Berlin"')
    path.chmod(0o644)
    assert load(folder).zone.name == "Europe/Berlin"
    path.chmod(0o666)
    with pytest.raises(Unusable, match="others may write it"):
        load(folder)
    path.chmod(0o600)
    folder.chmod(0o777)
    with pytest.raises(Unusable, match=f"choose another with {Parameter.STORE}"):
        load(folder)
    folder.chmod(0o700)
    path.rename(folder / "other")
    os.symlink("other", path)
    with pytest.raises(Unusable, match="is not a regular file"):
        load(folder)


class Api(Hook):
    """A pager's interface: `calls` are the paths and documents that it was sent."""

    def __init__(self):
        super().__init__()
        api, self.calls = self, []

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                api.calls.append((self.path, json.loads(self.rfile.read(int(self.headers["content-length"])))))
                self.send_response(202)
                self.end_headers()
                self.wfile.write(b'{"requestId": "1"}')

            def log_message(self, format, *args):
                pass

        self._server.RequestHandlerClass = Handler


@pytest.fixture
def api():
    with Api() as result:
        yield result


BUSY = "windows-privileged-time"


def reported(world, address, *steps):
    """What a target at an address is sent while these fire, step by step, two minutes apart."""
    notifier = notifier_of(world, settings(pager=address))
    for firing in steps:
        world.step(*firing, every=2 * MINUTE)
        for target in notifier.targets:
            target.tick(world.at + 30 * SECOND)
    assert [state.error for state in notifier.states()] == [""]


def test_pagerduty_gets_an_event_by_the_key_of_the_incident_and_its_resolution(world, api, monkeypatch):
    monkeypatch.setitem(PAGERDUTY_API_LOOKUP, "us", f"http://{api.address}/v2/enqueue")
    reported(world, "pagerduty://integrationkey0@apikey0", [(CPU, "WEB01"), (CPU, "WEB02")], [(CPU, "WEB02")], [])
    assert {path for path, _ in api.calls} == {"/v2/enqueue"}
    got = [(item["event_action"], item["dedup_key"]) for _, item in api.calls]
    assert sorted(got[:2]) == [("trigger", "plimsoll:web01/cpu"), ("trigger", "plimsoll:web02/cpu")]
    assert got[2:] == [("resolve", "plimsoll:web01/cpu"), ("resolve", "plimsoll:web02/cpu")]
    first = next(item["payload"] for _, item in api.calls if item["dedup_key"].startswith("plimsoll:web01"))
    assert first["summary"] == "WEB01 is short of processors (Processor time 95 %)"
    assert first["severity"] == "critical"
    assert first["source"] == "WEB01"
    assert first["custom_details"]["rule"] == CPU


def test_opsgenie_closes_the_alert_of_the_incident(world, api, monkeypatch):
    monkeypatch.setitem(OPSGENIE_API_LOOKUP, "us", f"http://{api.address}/v2/alerts")
    reported(world, "opsgenie://apikey0", [(CPU, "WEB01")], [])
    (opened, content), (closed, _) = api.calls
    assert content["priority"] == "P1"
    assert (opened, content["alias"], content["entity"]) == ("/v2/alerts", "plimsoll:web01/cpu", "WEB01")
    assert closed == "/v2/alerts/plimsoll%3Aweb01%2Fcpu/close?identifierType=alias"


def test_a_target_of_alertmanagers_format_gets_alerts_with_their_states(world, api):
    reported(world, f"alertmanager://{api.address}/hook?x=1", [(CPU, "WEB01")], [])
    (path, fired), (_, ended) = api.calls
    assert path == "/hook?x=1"
    assert (fired["version"], fired["status"], ended["status"]) == ("4", "firing", "resolved")
    ((item,), (other,)) = fired["alerts"], ended["alerts"]
    assert item["labels"]["alertname"] == CPU
    assert item["labels"]["host"] == "WEB01"
    assert item["fingerprint"] == other["fingerprint"]
    assert item["endsAt"] == "0001-01-01T00:00:00Z"
    assert other["endsAt"] > item["startsAt"] == other["startsAt"]


def test_targets_of_alertmanagers_format_have_names_of_their_own_and_a_test_begins_now(api):
    for name in ("day", "night.shift"):
        make_sender(f"alertmanager://{api.address}/hook", f"/etc/my.up.toml: notify.{name}.url")(
            Message("Test", "Nothing is wrong.", "info")
        )
    (_, day), (_, night) = api.calls
    assert (day["receiver"], night["receiver"]) == ("day", "night.shift")
    assert day["groupKey"] != night["groupKey"]
    assert day["alerts"][0]["startsAt"] > "2000"


def test_a_json_webhook_gets_id_host_rule_and_state_of_each_alert(world, api):
    reported(world, f"json://{api.address}/?:team=web", [(CPU, "WEB01"), (BUSY, "WEB01")], [])
    (_, fired), (_, ended) = api.calls
    assert (fired["host"], fired["rule"], fired["state"], fired["severity"]) == ("WEB01", CPU, "firing", "critical")
    assert fired["team"] == "web"
    assert {item["rule"] for item in fired["alerts"]} == {CPU, BUSY}
    assert (ended["state"], ended["key"], ended["id"]) == ("resolved", fired["key"], fired["id"])
    assert ended["ended_at"] > fired["fired_at"]
