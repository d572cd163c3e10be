"""Takes the pictures of the report and the pages in README.md: `python docs/pictures.py [report]`.

The picture of the report holds the text that it shows, which tests/test_pictures.py compares with that of today.
For the pages it starts `plimsoll up --demo` and waits until its simulated SQL Server is in trouble (about a minute).
Needs what the tests need (requirements-test.txt) and Debian's Chromium.
"""

import json
import socket
import struct
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from playwright.sync_api import Browser, sync_playwright

from plimsoll.api.inputs import Inputs
from plimsoll.api.review import ReviewSettings, review_inputs
from plimsoll.demo.runs import write_runs
from plimsoll.insights.insights import Insights
from plimsoll.report.html.render import render

HERE = Path(__file__).parent
CHROMIUM = Path("/usr/bin/chromium-headless-shell")
REPORT = HERE / "report.png"
WIDTH, HEIGHT = 1280, 800
FIRST_SCREEN = (".verdict", ".figures")
_HEAD = 33  # bytes of a PNG before what may hold a text: its signature and its header
_KEY = b"Description"
_PATIENCE_S = 240


def main() -> None:
    """Take all pictures, or only the picture of the report."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"])
        REPORT.write_bytes(report(browser))
        browser.close()
    print(REPORT)
    if sys.argv[1:] != ["report"]:
        _pages()


def report(browser: Browser) -> bytes:
    """Return the picture of the report of the demo with 4 GB, with the text of its first screen in it."""
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder) / "report.html"
        run = next(write_run for write_run in write_runs(Path(folder)) if write_run.name == "4GB")
        result.write_text(render(Insights(review_inputs(Inputs((str(run),)), ReviewSettings()))), encoding="utf-8")
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        page.goto(result.as_uri())
        page.locator(".chart canvas").first.wait_for()
        text = "\n".join(page.locator(part).inner_text() for part in FIRST_SCREEN)
        picture = page.screenshot()
        page.close()
        page.close()
    return with_text(picture, text)


def with_text(png: bytes, text: str) -> bytes:
    """Return a picture with a text in it, in a chunk `iTXt` (PNG, 11.3.4.5)."""
    body = b"iTXt" + _KEY + b"\0\0\0\0\0" + text.encode()
    chunk = struct.pack(">I", len(body) - 4) + body + struct.pack(">I", zlib.crc32(body))
    return png[:_HEAD] + chunk + png[_HEAD:]


def text_in(png: bytes) -> str:
    """Return the text that `with_text` put into a picture; empty if there is none."""
    size = struct.unpack(">I", png[_HEAD : _HEAD + 4])[0]
    body = png[_HEAD + 4 : _HEAD + 8 + size]
    start = b"iTXt" + _KEY + b"\0\0\0\0\0"
    return body.removeprefix(start).decode() if body.startswith(start) else ""


def _pages() -> None:
    with _up() as (folder, address), sync_playwright() as playwright:
        alert = _first_alert(folder)
        time.sleep(30)  # until its chart shows some of it
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"])
        a, b = quote("demo 8GB"), quote("demo 4GB")
        for name, path, drawn in (
            ("health", "/", "svg"),
            ("alert", f"/alerts/{alert}", "canvas"),
            ("dashboard", "/dashboards/sql-server?host=demo-sql&from=now-15m", "canvas"),
            ("compare", f"/runs/compare?a={a}&b={b}", "canvas"),
        ):
            _take(browser, f"{address}{path}", drawn, HERE / f"page-{name}.png")
        browser.close()


def _take(browser: Browser, address: str, drawn: str, to: Path) -> None:
    page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
    page.goto(address)
    page.locator(f"main {drawn}").first.wait_for(timeout=_PATIENCE_S * 1000)
    page.wait_for_timeout(6000)  # the health page renews itself after 2 s, with the last hour
    page.screenshot(path=to)
    page.close()
    print(to)


@contextmanager
def _up() -> Generator[tuple[Path, str]]:
    """Yield the data folder and the address of a running demo."""
    with socket.socket() as item:
        item.bind(("127.0.0.1", 0))
        listen = f"127.0.0.1:{item.getsockname()[1]}"
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "plimsoll", "up", "--demo", "--store", folder, "--listen", listen]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            assert process.stdout
            if not any("Ctrl-C" in line for line in process.stdout):
                raise SystemExit("plimsoll up did not start; its messages are above")
            yield Path(folder), f"http://{listen}"
        finally:
            process.terminate()
            process.wait(60)


def _first_alert(folder: Path) -> int:
    """Return the number of the first alert of the simulated host."""
    until = time.monotonic() + _PATIENCE_S
    while time.monotonic() < until:
        command = [sys.executable, "-m", "plimsoll", "alerts", "list", "--store", str(folder), "--json", "-"]
        load = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)["alerts"]
        if numbers := [item["id"] for item in load if item["host"] == "demo-sql" and item["severity"] != "info"]:
            return numbers[0]
        time.sleep(2)
    raise SystemExit(f"no alert fired within {_PATIENCE_S} s")


if __name__ == "__main__":
    main()
