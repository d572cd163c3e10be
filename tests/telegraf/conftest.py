"""Telegraf with the shipped configurations, and a real OpenLDAP server for it to watch."""

import os
import re
import shutil
import socket
import subprocess
import sys
import textwrap
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from plimsoll.model.series import Series
from tests.conftest import free_port, lacking

TELEGRAF = Path(__file__).parents[2] / "telegraf"
SUFFIX = "dc=example,dc=org"
ADMIN = f"cn=admin,{SUFFIX}"
PASSWORD = "Kap-Arkona-28"
_SCHEMA = Path("/etc/ldap/schema")
_MONITOR = f"cn=telegraf,{SUFFIX}"
_SLAPD = """\
include {schema}/core.schema
include {schema}/cosine.schema
include {schema}/inetorgperson.schema
modulepath /usr/lib/ldap
moduleload back_mdb
pidfile {folder}/slapd.pid
TLSCertificateFile {folder}/certificate.pem
TLSCertificateKeyFile {folder}/key.pem
database config
rootdn cn=config
rootpw {password}
database mdb
suffix "{suffix}"
rootdn "{admin}"
rootpw {password}
directory {folder}
index uid eq
"""
_ENTRIES = """\
dn: {suffix}
objectClass: dcObject
objectClass: organization
dc: example
o: example

dn: uid=probe,{suffix}
objectClass: inetOrgPerson
uid: probe
cn: probe
sn: probe

dn: {monitor}
objectClass: organizationalRole
objectClass: simpleSecurityObject
cn: telegraf
userPassword: {password}
"""
_ENTRY = """\
dn: uid={uid},{suffix}
objectClass: inetOrgPerson
uid: {uid}
cn: {uid}
sn: {uid}
"""
_ENDING = re.compile(
    r".*\[inputs\.execd\] Error in plugin: (error reading std(out|err): )?read \|0: file already closed\n"
)
_FIELD = re.compile(r'((?:\\.|[^,=\\])+)=("(?:\\.|[^"\\])*"|[^,]*)')


class Point(NamedTuple):
    """A line of line protocol."""

    measurement: str
    tags: dict[str, str]
    fields: dict[str, float | str]
    time: int

    @classmethod
    def of(cls, line):
        head, fields, time = re.findall(r"^((?:\\.|[^ \\])+) (.*) (\d+)$", line)[0]
        measurement, *tags = re.split(r"(?<!\\),", head)
        return cls(
            measurement,
            {
                _plain(name): _plain(value)
                for name, _, value in (re.split(r"(?<!\\)(=)", tag, maxsplit=1) for tag in tags)
            },
            {_plain(name): _value(value) for name, value in _FIELD.findall(fields)},
            int(time),
        )

    def series(self):
        tags = tuple(sorted((name, value) for name, value in self.tags.items() if name != "host"))
        return {Series(self.tags["host"], self.measurement, tags, field): value for field, value in self.fields.items()}


def _plain(text):
    return re.sub(r"\\([,= ])", r"\1", text)


def _value(text):
    return text[1:-1] if text.startswith('"') else float(text.removesuffix("i"))


def until(condition, seconds=600):
    """Waits for a condition, which takes longer to be seen the longer it takes; what it gave, once that is true."""
    end, pause = time.monotonic() + seconds, 0.05
    while not (result := condition()):
        assert time.monotonic() < end, f"not within {seconds} s"
        time.sleep(pause)
        pause = min(1.2 * pause, 0.5)
    return result


@pytest.fixture
def point():
    """Reads a line of line protocol."""
    return Point.of


@pytest.fixture
def unused_port():
    """A port of this machine nothing listens on."""
    return free_port()


@pytest.fixture
def environment():
    """What Telegraf's configurations take from the environment, with no InfluxDB behind it."""
    return {
        "INFLUX_URL": f"http://127.0.0.1:{free_port()}",
        "INFLUX_TOKEN": "none",
        "INFLUX_ORG": "none",
        "INFLUX_BUCKET": "none",
        "LDAP_PROBE": str(TELEGRAF / "ldap_probe.py"),
        "LDAP_PROBE_PYTHON": sys.executable,
    }


@pytest.fixture
def collect(telegraf, environment, tmp_path):
    """Runs Telegraf with configurations, until it has collected for some seconds or `once`; gives the points and what
    it said.
    """

    def run(*configurations, seconds=None, variables=None, options=("--strict-env-handling",)):
        points = tmp_path / "points"
        points.unlink(missing_ok=True)
        result = tmp_path / "own.conf"
        # Once a second instead of every ten: nothing in the configurations depends on it.
        result.write_text(f'[agent]\ninterval = "1s"\n[[outputs.file]]\nfiles = ["{points}"]\n')
        files = [part for path in (*configurations, result) for part in ("--config", str(path))]
        command = [str(telegraf), *files, *options]
        process = subprocess.Popen(
            command if seconds else [*command, "--once"],
            env={**os.environ, **environment, **(variables or {})},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            # It opens what it writes to before it collects: how long it takes to start is not of the seconds.
            until(lambda: points.exists() or process.poll() is not None)
            outcome = process.communicate(timeout=seconds or 300)[1]
        except subprocess.TimeoutExpired:
            process.terminate()
            outcome = process.communicate(timeout=300)[1]
        finally:
            process.kill()
        lines = points.read_text().splitlines() if points.exists() else []
        # When Telegraf ends, execd may close what the probe writes to before it stops reading it.
        outcome = "".join(line for line in outcome.splitlines(keepends=True) if not _ENDING.fullmatch(line))
        return [Point.of(line) for line in lines], outcome

    return run


class Slapd:
    """An OpenLDAP server of the tests' own."""

    suffix = SUFFIX
    admin = ADMIN
    password = PASSWORD
    monitor = _MONITOR

    def __init__(self, folder):
        self.port = free_port()
        self.tls_port = free_port()
        self.url = f"ldap://127.0.0.1:{self.port}"
        self.certificate = str(folder / "certificate.pem")
        self._folder = folder
        self._process = None
        configuration = folder / "slapd.conf"
        configuration.write_text(
            _SLAPD.format(schema=_SCHEMA, folder=folder, suffix=SUFFIX, admin=ADMIN, password=PASSWORD)
        )
        (folder / "cn=config").mkdir()
        # On its first start slapd turns the file into cn=config, as packages have it.
        self._once = ["-f", str(configuration)]

    def start(self):
        listening = f"{self.url} ldaps://127.0.0.1:{self.tls_port}"
        self._process = subprocess.Popen(
            [_slapd(), "-d", "0", "-F", str(self._folder / "cn=config"), *self._once, "-h", listening]
        )
        until(self._answers)
        self._once = []

    def stop(self):
        if self._process:
            self._process.terminate()
            self._process.wait(timeout=300)
            self._process = None

    def tool(self, name, text, *arguments, dn=ADMIN):
        """Call ldapadd or one of its kin, as the admin."""
        done = subprocess.run(
            [name, "-x", "-H", self.url, "-D", dn, "-w", PASSWORD, *arguments],
            input=text,
            check=False,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, f"{name}: {done.stderr}"

    @contextmanager
    def load(self):
        """Adds, changes, finds and deletes entries until it is left."""
        stop = threading.Event()

        def work():
            at = 0
            while not stop.is_set():
                at += 1
                dn = f"uid=u{at},{self.suffix}"
                self.tool("ldapadd", _ENTRY.format(uid=f"u{at}", suffix=self.suffix))
                self.tool("ldapmodify", f"dn: {dn}\nchangetype: modify\nreplace: sn\nsn: changed\n")
                self.tool("ldapsearch", "", "-b", self.suffix, f"(uid=u{at})")
                self.tool("ldapdelete", "", dn)
                stop.wait(0.1)

        worker = threading.Thread(target=work)
        worker.start()
        try:
            yield
        finally:
            stop.set()
            worker.join()

    def _answers(self):
        assert self._process, "slapd was not started"
        assert self._process.poll() is None, "slapd ended"
        with socket.socket() as tried:
            return tried.connect_ex(("127.0.0.1", self.port)) == 0


def _documented_ldif():
    """How docs/telegraf.md has the server count: it is to work as it stands there."""
    page = (TELEGRAF.parent / "docs" / "telegraf.md").read_text()
    (ldif,) = re.findall(r"```ldif\n(.*?)```", page, re.DOTALL)
    return textwrap.dedent(ldif)


def _certificate(folder):
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"),
            *("-addext", "subjectAltName=DNS:localhost"),
            *("-keyout", str(folder / "key.pem"), "-out", str(folder / "certificate.pem")),
        ],
        check=True,
        capture_output=True,
    )


def _slapd() -> str:
    """The path of slapd, which is not on every user's PATH; empty if it is not here."""
    return shutil.which("slapd", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin") or ""


@pytest.fixture
def slapd(tmp_path):
    """A running OpenLDAP server with one entry and the monitor backend."""
    if not _slapd() or not shutil.which("ldapadd"):
        lacking("OpenLDAP", "install Debian's slapd and ldap-utils")
    folder = tmp_path / "slapd"
    folder.mkdir()
    _certificate(folder)
    server = Slapd(folder)
    try:
        server.start()
        server.tool("ldapadd", _ENTRIES.format(suffix=SUFFIX, monitor=_MONITOR, password=PASSWORD))
        server.tool("ldapmodify", _documented_ldif(), dn="cn=config")
        yield server
    finally:
        server.stop()


@pytest.fixture
def configuration(slapd, environment, tmp_path):
    """openldap.conf for the port of the tests' server: the one thing of it that is not from the environment."""
    environment["LDAP_HOST"] = "127.0.0.1"
    environment["LDAP_MONITOR_DN"] = environment["LDAP_BIND_DN"] = slapd.monitor
    environment["LDAP_MONITOR_PASSWORD"] = environment["LDAP_BIND_PASSWORD"] = slapd.password
    environment["LDAP_BASE"] = slapd.suffix
    environment["LDAP_FILTER"] = "(uid=probe)"
    text = (TELEGRAF / "openldap.conf").read_text()
    assert len(re.findall(r"\b389\b(?=\n|})", text)) == 2
    written = tmp_path / "openldap.conf"
    written.write_text(re.sub(r"\b389\b(?=\n|})", str(slapd.port), text))
    return written
