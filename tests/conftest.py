"""What tests in several rooms share."""

import atexit
import gc
import itertools
import json
import logging
import os
import random
import shutil
import socket
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlencode

import pytest
import urllib3
from hypothesis import settings as hypothesis_settings

from plimsoll.__main__ import COLLECTING
from plimsoll.cli import cli
from plimsoll.serve import secret_files
from plimsoll.store.influx import runs, tokens
from tests.grafana_components import drawing
from tests.servers import programs
from tests.shared_influxdb import shared_influxdb
from tests.telegraf import wine

REAL_LOGS = Path(__file__).parents[2] / "shared" / "logs"
# Below those that a connection may be given before a server has them; none twice, since it may be long until then.
# Of processes that run these tests side by side (pytest-xdist), each has ports of its own.
_WORKER = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
_WORKERS = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
COST_OF_A_PASSWORD = secret_files._COST
_TESTS = itertools.count(1)
_PORTS = iter(random.sample(ports := range(20_000 + _WORKER, 32_000, _WORKERS), len(ports)))


# Thousands of tests are collected, and nothing of them is garbage. (plimsoll.__main__ has seen to it that numpy computes
# in one thread here and in what tests start.)
gc.disable()
collect_ignore = ["ingest/cases"]  # hundreds of folders of data

# The servers of tests have memory enough: collecting garbage less often saves them a fifth of their CPU time.
os.environ.setdefault("GOGC", "400")

# On a machine with other work any example may take long.
hypothesis_settings.register_profile("patient", hypothesis_settings(), deadline=None, max_examples=25)
hypothesis_settings.load_profile("patient")


class Outcome(NamedTuple):
    """What a command came to."""

    status: int
    out: str
    err: str


# What takes longest, the longest first: begun among the last, these would be waited for when all else is done.
_LONGEST = (
    *("test_up.py", "test_pipeline_packs.py", "test_dashboard_queries.py", "test_uploads.py", "test_runs.py"),
    *("test_alerts_command.py", "test_hosts_at_large.py", "test_contract.py"),
    *("test_load.py", "test_run_life.py", "test_drawn.py", "test_alerts.py", "test_export.py", "test_duck.py"),
    *("test_health.py", "test_live.py", "test_dashboards.py", "test_pipeline_generated.py", "test_loop.py"),
    *("test_report_in_browser.py", "test_python.py", "test_http_api.py"),
    *("test_scale.py", "test_duck_damage.py", "test_writers.py", "test_agreement.py"),
    *("test_ldap_probe.py", "test_openldap.py", "test_collector.py", "test_access.py"),
    *("test_service.py", "test_start.py", "test_wheel.py", "test_zip_application.py"),
)
_TURN = {name: turn for turn, name in enumerate(_LONGEST)}


@pytest.hookimpl(wrapper=True)
def pytest_collection(session):
    """The first of several processes compiles the tests, and the others find them compiled.

    Side by side each of them would compile all, which takes half of what collecting takes.
    """
    if _WORKERS == 1 or sys.dont_write_bytecode:
        return (yield)
    collected = session.config._tmp_path_factory.getbasetemp().parent / "collected"
    until = time.monotonic() + 300
    while _WORKER and not collected.exists() and time.monotonic() < until:
        time.sleep(0.1)
    try:
        return (yield)
    finally:
        collected.touch()


def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: _TURN.get(item.path.name, len(_TURN)))


def pytest_collection_finish():
    """What was collected lives to the end: the collector of garbage need not look through it again."""
    gc.freeze()
    gc.enable()
    gc.set_threshold(*COLLECTING)
    atexit.register(gc.unfreeze)  # else some libraries would complain of objects that nobody deleted


@pytest.fixture(scope="session", autouse=True)
def passwords_are_hashed_at_little_cost():
    """A server of a test would take a sixth of a second for it; test_people.py hashes at the cost of users."""
    secret_files._COST = (1 << 4, 8, 1)


@pytest.fixture(scope="session", autouse=True)
def loads_do_not_wait():
    """A load into InfluxDB counts at once what it wrote. Commands in other processes wait."""
    runs.SETTLE_S = 0.0


@pytest.fixture(autouse=True)
def no_data_of_the_user(tmp_path_factory, monkeypatch):
    """The data folder of plimsoll up is that of the test. It is made by whoever writes there: few tests do."""
    folder = tmp_path_factory.getbasetemp() / "user-data" / str(next(_TESTS))
    monkeypatch.setenv("XDG_DATA_HOME", str(folder))


@pytest.fixture
def plimsoll(capsys, monkeypatch):
    """Calls the command line as a user would, in this process."""

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["plimsoll", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        return Outcome(int(ended.value.code or 0), out, err)

    return call


def free_port():
    """A port of this machine nothing listens on, and that no-one else in these tests was given."""
    while True:
        port = next(_PORTS)
        with socket.socket() as tried, suppress(OSError):
            tried.bind(("127.0.0.1", port))
            return port


@pytest.fixture
def real_logs():
    """The folder of real logs that lies beside the project where it is built."""
    if not REAL_LOGS.is_dir():
        pytest.skip("real logs are not here: ../shared/logs")
    return REAL_LOGS


def lacking(program, advice):
    """Skips the test for want of a server; where CI=true says that all of them are to be had, fails it."""
    text = f"{program} is not here; {advice}"
    if os.environ.get("CI") == "true":
        pytest.fail(text)
    pytest.skip(text)


def built(name):
    """The path of a program of tests/servers, which the test cannot do without."""
    program = programs.PROGRAMS[name]
    if not program.built:
        lacking(f"{program.title} {program.version}", f"python3 -m tests.servers.build {name}")
    return program.path


@pytest.fixture(scope="session")
def installed():
    """Finds a program of the system's which the test cannot do without; its path."""

    def find(program: str, package: str):
        # Debian has servers in /usr/sbin, which is not on everyone's PATH.
        path = shutil.which(program, path=os.pathsep.join([os.environ["PATH"], "/usr/sbin"]))
        if path is None:
            lacking(program, f"install Debian's {package}")
        return path

    return find


@dataclass(frozen=True)
class Bucket:
    """A bucket in a real InfluxDB and who may do what with it: `token` is ingest's, which reads and writes."""

    url: str
    org: str
    bucket: str
    token: str
    telegraf_token: str
    grafana_token: str
    admin_token: str

    _numbers = itertools.count(1)

    def fresh(self, *, retention_s=0):
        """A new, empty bucket beside this one, with tokens of its own."""
        api = tokens.Api(self.url, self.admin_token)
        name = f"test-{_WORKER}-{next(self._numbers)}"  # those of other workers are beside it
        beside = api.bucket(self.bucket)
        # Shards longer than the retention are refused.
        rule = {"type": "expire", "everySeconds": retention_s, "shardGroupDurationSeconds": 3600 if retention_s else 0}
        body = {"orgID": beside.org_id, "name": name, "retentionRules": [rule]}
        bucket = tokens.Bucket(api.call("POST", "/api/v2/buckets", body)["id"], beside.org_id)
        created = {who: api.add_token(bucket, *rights) for who, rights in tokens.RIGHTS.items()}
        return self._of(self.url, self.org, name, self.admin_token, created)

    @classmethod
    def _of(cls, url, org, bucket, admin_token, created):
        return cls(
            url,
            org,
            bucket,
            created[tokens.TOKEN_INGEST],
            created[tokens.TOKEN_TELEGRAF],
            created[tokens.TOKEN_GRAFANA],
            admin_token,
        )

    @classmethod
    def first(cls, settings):
        """The bucket that an InfluxDB is set up with."""
        return cls._of(
            settings[tokens.URL], settings[tokens.ORG], settings[tokens.BUCKET], settings[tokens.ADMIN_TOKEN], settings
        )


@pytest.fixture(scope="session")
def influxdb(tmp_path_factory):
    """A real InfluxDB for the session, as a bucket of this worker. A test that writes takes `bucket`."""
    built("influxd")
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent  # where the folders of all workers are
    with shared_influxdb(folder / "influxdb") as settings:
        yield Bucket.first(settings).fresh()


@pytest.fixture
def bucket(influxdb):
    """An empty bucket in a real InfluxDB."""
    return influxdb.fresh()


class VictoriaMetrics:
    """A real VictoriaMetrics in a folder, which keeps everything for 100 years; it can be killed and started again."""

    def __init__(self, folder, **flags):
        self.address = f"127.0.0.1:{free_port()}"
        self.url = f"http://{self.address}"
        self._log = folder / "log"
        flags = {"storageDataPath": folder / "data", "httpListenAddr": self.address, "retentionPeriod": "100y", **flags}
        self._command = [built("victoria-metrics"), *(f"-{name}={value}" for name, value in flags.items())]
        self._server = None

    def start(self):
        with self._log.open("ab") as log:
            self._server = subprocess.Popen(self._command, stdout=log, stderr=log)
        while not _answers(f"{self.url}/health"):
            assert self._server.poll() is None, self._log.read_text()
            time.sleep(0.05)

    def end(self, *, kill=False):
        if self._server:
            (self._server.kill if kill else self._server.terminate)()
            self._server.wait()

    def show(self):
        """Have what was written shown at once, and not within seconds."""
        assert urllib3.request("GET", f"{self.url}/internal/force_flush", retries=False).status == 200

    def forget(self):
        """Delete all series that have a host."""
        path = "/api/v1/admin/tsdb/delete_series?" + urlencode({"match[]": '{host!=""}'})
        done = urllib3.request("POST", f"{self.url}{path}", retries=False)
        assert done.status == 204

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.end()


def _answers(url):
    try:
        return urllib3.request("GET", url, retries=False, timeout=1).status == 200
    except urllib3.exceptions.HTTPError:
        return False


@pytest.fixture(scope="session")
def victoriametrics(tmp_path_factory):
    """The address of a real VictoriaMetrics for the session. A test writes hosts that no other test has."""
    with VictoriaMetrics(tmp_path_factory.mktemp("victoriametrics")) as server:
        yield server.url


@pytest.fixture(scope="session")
def telegraf():
    """The path of a real Telegraf."""
    return built("telegraf")


@pytest.fixture(scope="session")
def telegraf_windows():
    """Has the real Telegraf for Windows check a configuration, or `collect` with it once: its status, and what it said."""
    built("telegraf-windows")
    if lacks := wine.missing_packages():
        lacking("Wine", lacks)

    def check(configuration, environment=None, *, collect=False):
        run = wine.collect_once if collect else wine.config_check
        return run(configuration, environment or {})

    return check


@pytest.fixture(scope="session")
def influxql():
    """Tells of each InfluxQL query what InfluxDB's parser has against it, or None."""
    path = built("influxql")

    def faults(queries):
        done = subprocess.run([path], input=json.dumps(queries), capture_output=True, text=True, check=True)
        return json.loads(done.stdout)

    return faults


@pytest.fixture
def duckdb(tmp_path):
    """An embedded store in a new file."""
    from plimsoll.store.duck.duck_store import open_embedded

    store = open_embedded(tmp_path / "plimsoll.duckdb")
    yield store
    store.close()


@pytest.fixture
def here(duckdb, tmp_path):
    """A server of `plimsoll up` on the loopback address, with an embedded store."""
    from tests.serve.site import site

    with site(duckdb, tmp_path / "data") as server:
        yield server


@pytest.fixture(scope="session")
def chromium():
    """A browser. From the first test that takes it on, Playwright has asyncio run in this thread."""
    if not drawing.CHROMIUM.exists():
        lacking(str(drawing.CHROMIUM), "install Debian's chromium-headless-shell")
    # When a page closes, Playwright can leave asyncio tasks unfinished. asyncio logs an error when the garbage collector
    # deletes them, which can be during another test; that test must not see it.
    logging.getLogger("asyncio").addHandler(logging.NullHandler())
    logging.getLogger("asyncio").propagate = False
    with drawing.chromium() as browser:
        yield browser
