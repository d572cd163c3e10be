"""Draws dashboards in Chromium, and returns what the components report."""

import json
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

# Without the windows of a browser: a page takes a third of the CPU time.
CHROMIUM = Path("/usr/bin/chromium-headless-shell")
WIDTH, _HEIGHT = 1600, 1000
_ARGUMENTS = (
    *("--no-sandbox", "--disable-quic", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync"),
    # One process draws all pages: else each address is drawn by one that has to be started.
    *("--renderer-process-limit=1", "--in-process-gpu"),
    "--js-flags=--min-semi-space-size=64",  # MB: pages of tests live for seconds, and collecting garbage takes a tenth
)


@dataclass
class Drawing:
    """A page that draws dashboards."""

    page: "Page"
    complaints: list[str] = field(default_factory=list[str])

    def draw(self, dashboard: Mapping[str, Any], start_ms: int, end_ms: int, **options: Any) -> dict[str, Any]:
        """Draw a dashboard for a range; return the report of the components, with the complaints of the browser."""
        self.complaints.clear()
        self.page.set_viewport_size({"width": WIDTH, "height": _HEIGHT})
        fields = {"dashboard": dashboard, "from": start_ms, "to": end_ms, "width": WIDTH, **options}
        report = json.loads(self.page.evaluate("wanted => window.plimsoll.open(wanted)", json.dumps(fields)))
        return {**report, "complaints": [*self.complaints]}

    def save_picture(self, path: Path) -> None:
        """Save a picture of the whole dashboard."""
        path.parent.mkdir(parents=True, exist_ok=True)
        # Chromium does not paint long tables outside the window.
        height = self.page.evaluate("document.documentElement.scrollHeight")
        self.page.set_viewport_size({"width": WIDTH, "height": height})
        self.page.screenshot(path=path)


@contextmanager
def chromium() -> Generator["Browser"]:
    """A browser. Playwright runs one at a time in a process."""
    from playwright.sync_api import Error, sync_playwright

    with sync_playwright() as playwright:
        try:
            browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=_ARGUMENTS)
        except Error:  # on a busy machine Chromium can end with a segmentation fault as it starts
            browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=_ARGUMENTS)
        yield browser
        browser.close()


@contextmanager
def drawing(browser: "Browser", address: str) -> Generator[Drawing]:
    """Open the page in Chromium."""
    page = browser.new_page(viewport={"width": WIDTH, "height": _HEIGHT}, timezone_id="UTC", locale="en-US")
    result = Drawing(page)
    page.on(
        "console", lambda text: result.complaints.append(f"{text.type}: {text.text} {text.location.get('url', '')}")
    )
    page.on("pageerror", lambda error: result.complaints.append(str(error)))
    page.goto(address)
    yield result
    page.close()
