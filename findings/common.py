"""Helpers of the findings: install pinned packages in a temporary folder, run programs, check the output.

Packages come from the registries that pip, npm, Go, Maven and apt are set up for.
"""

import http.server
import itertools
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
import zlib
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

SHARED_FOLDER = "PLIMSOLL_FINDINGS"  # the variable with the folder where packages lie between findings
_READY_WITHIN_S = 60
_GO_BUILD = ("go", "build", "-buildvcs=false", "-trimpath", "-o", "program")


class Changed(Exception):
    """What is seen is no longer what the finding states."""


class NotInstalled(Exception):
    """A package could not be installed, or the tool that installs it is missing."""


def run_finding(probe: Callable[[Path], None]) -> None:
    """Run a probe in a temporary folder and print its result; exit with 1 if it shows anything but what is stated."""
    name = Path(sys.argv[0]).stem
    with tempfile.TemporaryDirectory(prefix=f"{name}-") as folder:
        try:
            probe(Path(folder))
        except Changed as changed:
            sys.exit(f"{name}: changed: {changed}")
        except NotInstalled as failure:
            sys.exit(f"{name}: not run: {failure}")
    print(f"{name}: as stated")


def expect(seen: object, stated: object, what: str) -> None:
    """Raise Changed if what is seen differs from what the finding states."""
    if seen != stated:
        raise Changed(f"{what}: stated {stated!r}, seen {seen!r}")


def output_of(command: Sequence[str | Path], folder: Path | None = None, text: str | None = None, **more: str) -> str:
    """Return the standard output of a program that must succeed.

    `text` is its standard input, `more` are variables of its environment.
    """
    done = subprocess.run(
        command, cwd=folder, env=os.environ | more, input=text, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise Changed(f"{Path(command[0]).name} ended with {done.returncode}: {(done.stderr or done.stdout)[-2000:]}")
    return done.stdout


def use_python_packages(folder: Path, *packages: str) -> Path:
    """Install packages (`duckdb==2.0.0`) and put them first on the path of this process; return their folder."""
    target = _once(
        folder,
        " ".join(packages),
        lambda home: _install(
            [sys.executable, "-m", "pip", "install", "-q", "--no-compile", "--target", home, *packages]
        ),
    )
    sys.path.insert(0, str(target))
    return target


def install_npm_packages(folder: Path, *packages: str) -> Path:
    """Install packages (`autocannon@8.0.0`) without the scripts that they would run; return the folder of programs."""

    def install(home: Path) -> None:
        (home / "package.json").write_text("{}", "utf-8")
        _install(["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--silent", *packages], home)

    return _once(folder, " ".join(packages), install) / "node_modules" / ".bin"


def install_go_program(folder: Path, package: str, *tags: str) -> Path:
    """Build a program (`github.com/rakyll/hey@v0.1.4`) and return its path.

    It is a tool of a module of its own, as `go install` refuses programs whose module replaces another.
    """

    def install(home: Path) -> None:
        _install(["go", "mod", "init", "finding"], home)
        _install(["go", "get", "-tool", package], home)
        _install([*_GO_BUILD, f"-tags={','.join(tags)}", package.partition("@")[0]], home)

    return _once(folder, f"{package} {len(tags)}", install) / "program"


def build_go_program(folder: Path, source: str, *modules: str) -> Path:
    """Build a Go source against modules (`github.com/influxdata/influxql@v1.2.0`) and return the program's path."""

    def install(home: Path) -> None:
        (home / "main.go").write_text(source, "utf-8")
        _install(["go", "mod", "init", "finding"], home)
        _install(["go", "get", *modules], home)
        _install([*_GO_BUILD, "."], home)

    return _once(folder, f"{modules[0]} {zlib.crc32(source.encode())}", install) / "program"


def install_debian_package(folder: Path, *packages: str) -> Path:
    """Download packages (`atop=2.8.1-1+deb12u1`) and unpack them in a folder, which is returned; nothing is set up."""

    def install(home: Path) -> None:
        _install(["apt-get", "download", "-q", *packages], home)
        for archive in home.glob("*.deb"):
            _install(["dpkg-deb", "-x", archive, home])
            archive.unlink()

    return _once(folder, " ".join(packages), install)


def debian_libraries(root: Path) -> str:
    """Return the LD_LIBRARY_PATH with which programs of an unpacked folder find their libraries."""
    return str(root / "usr/lib/x86_64-linux-gnu")


def install_maven_packages(folder: Path, *packages: str) -> Path:
    """Download packages (`org.apache.jmeter:ApacheJMeter_http:5.6.3`) and what they need; return the folder of jars."""

    def install(home: Path) -> None:
        names = ("groupId", "artifactId", "version")
        dependencies = ""
        for package in packages:
            parts = zip(names, package.split(":"), strict=True)
            dependencies += f"<dependency>{''.join(f'<{name}>{part}</{name}>' for name, part in parts)}</dependency>"
        (home / "pom.xml").write_text(
            "<project><modelVersion>4.0.0</modelVersion><groupId>finding</groupId><artifactId>finding</artifactId>"
            f"<version>1</version><dependencies>{dependencies}</dependencies></project>",
            "utf-8",
        )
        _install(["mvn", "-q", "-B", "dependency:copy-dependencies", f"-DoutputDirectory={home}"], home)

    return _once(folder, " ".join(packages), install)


@contextmanager
def serve(command: Sequence[str | Path], ready: str, folder: Path, **more: str) -> Generator[subprocess.Popen[bytes]]:
    """Run a server until the block ends; the block begins once the address `ready` answers."""
    with (folder / "server.log").open("ab") as log:
        process = subprocess.Popen(command, cwd=folder, env=os.environ | more, stdout=log, stderr=log)
        try:
            end = time.monotonic() + _READY_WITHIN_S
            while not _answers(ready):
                if process.poll() is not None or time.monotonic() > end:
                    raise Changed(f"{Path(command[0]).name} does not start: {log_tail(folder)}")
                time.sleep(0.1)
            yield process
        finally:
            process.terminate()
            process.wait(30)


def log_tail(folder: Path) -> str:
    """Return the last 2,000 characters of a server's log."""
    return (folder / "server.log").read_text("utf-8", "replace")[-2000:]


def free_port() -> int:
    """Return a port of this machine that nothing listens on."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def fetch(url: str, body: bytes | None = None, **query: str) -> str:
    """Return what a server on this machine answers, of whatever status; a body is posted."""
    if query:
        url += "?" + urllib.parse.urlencode(query)
    try:
        with urllib.request.urlopen(urllib.request.Request(url, body), timeout=30) as answer:
            return answer.read().decode()
    except urllib.error.HTTPError as refusal:
        return refusal.read().decode()


def _answers(url: str) -> bool:
    try:
        fetch(url)
    except OSError:
        return False
    return True


def _once(folder: Path, name: str, install: Callable[[Path], None]) -> Path:
    """Return the folder where packages are installed: one that findings share, also at once, or the finding's."""
    home = Path(os.environ.get(SHARED_FOLDER, folder)) / re.sub(r"[^\w.]+", "-", name)
    if not home.is_dir():
        home.parent.mkdir(parents=True, exist_ok=True)
        partial = Path(tempfile.mkdtemp(prefix=f"{home.name}.", dir=home.parent))
        install(partial)
        try:
            partial.rename(home)
        except OSError:  # another finding has installed it meanwhile
            shutil.rmtree(partial)
    return home


def _install(command: Sequence[str | Path], folder: Path | None = None, **more: str) -> None:
    if not shutil.which(command[0]):
        raise NotInstalled(f"{command[0]} is not installed")
    environment = os.environ | {"CGO_ENABLED": "0"} | more
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise NotInstalled(f"{' '.join(map(str, command[:3]))} ended with {done.returncode}: {done.stderr[-2000:]}")


@contextmanager
def serve_pages(delay_s: float = 0, served: list[str] | None = None, posted: list[str] | None = None) -> Generator[str]:
    """Serve HTTP on this machine and give its address; each GET's path is added to `served`, a POST's body to `posted`.

    `/redirect` leads to `/`, `/hang` answers after 20 s, `/missing` is a 404 and `/error` a 500, `/half` is a 500 and a
    200 in turns, all else is a 200.
    """
    failures = itertools.cycle((500, 200))
    statuses = {"/redirect": 302, "/missing": 404, "/error": 500}

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            if served is not None:
                served.append(self.path)
            time.sleep(20 if self.path == "/hang" else delay_s)
            status = next(failures) if self.path == "/half" else statuses.get(self.path, 200)
            self.send_response(status)
            if status == 302:
                self.send_header("Location", "/")
            self.send_header("Content-Length", "0")
            with suppress(ConnectionError):
                self.end_headers()

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            if posted is not None:
                posted.append(body)
            self.send_response(204)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            """Write nothing."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.handle_error = lambda request, client_address: None  # clients that hang up
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
