"""Draws dashboards in Chromium, and returns what the components report."""

import json
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

CHROMIUM = Path(
    "/usr/bin/chromium-headless-shell"
)  # without the windows of a browser: a page takes a third of the CPU time
WIDTH = 1600
_HEIGHT = 1000
_ARGUMENTS = (
    *("--no-sandbox", "--disable-quic", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync"),
    # One process draws all pages: else each address is drawn by one that has to be started.
    *("--renderer-process-limit=1", "--in-process-gpu"),
    "--js-flags=--min-semi-space-size=64",  # MB: pages of tests live for seconds, and collecting garbage takes a tenth
)

Report = Mapping[str, Any]


@dataclass
class Drawing:
    """A page that draws dashboards."""

    page: "Page"
    complaints: list[str] = field(default_factory=list[str])

    def draw(self, dashboard: Mapping[str, Any], start_ms: int, end_ms: int, **more: Any) -> dict[str, Any]:
        """Draw a dashboard for a range. Returns the report, with what the browser complained of and how many queries
        opening the dashboard takes.
        """
        self.complaints.clear()
        self.page.set_viewport_size({"width": WIDTH, "height": _HEIGHT})
        wanted = {"dashboard": dashboard, "from": start_ms, "to": end_ms, "width": WIDTH, **more}
        report = json.loads(self.page.evaluate("wanted => window.plimsoll.open(wanted)", json.dumps(wanted)))
        return {**report, "complaints": [*self.complaints], "opening": _queries_on_opening(report)}

    def picture(self, path: Path, height: int | None = None) -> None:
        """Save a picture of the whole dashboard, or of its upper part."""
        path.parent.mkdir(parents=True, exist_ok=True)
        self._show_all(height)
        self.page.screenshot(path=path)

    def pictures_of_panels(self, folder: Path) -> None:
        """Save a picture of each panel, named by its id."""
        folder.mkdir(parents=True, exist_ok=True)
        self._show_all()
        for element in self.page.query_selector_all("[data-panel]"):
            element.screenshot(path=folder / f"{element.get_attribute('data-panel')}.png")

    def _show_all(self, height: int | None = None) -> None:
        # Chromium does not paint long tables outside the window.
        whole = self.page.evaluate("document.documentElement.scrollHeight")
        self.page.set_viewport_size({"width": WIDTH, "height": height or whole})


def _queries_on_opening(report: Report) -> int:
    """Return the number of queries of variables, annotations and the panels that are not in closed rows."""
    shown = [panel for panel in report["panels"] if not panel["collapsed"]]
    return len(report["queries"]) + sum(len(panel["queries"]) for panel in shown)


@contextmanager
def chromium() -> Generator["Browser"]:
    """A browser. Playwright runs one at a time in a process."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=_ARGUMENTS)
        yield browser
        browser.close()


@contextmanager
def drawing(browser: "Browser", address: str) -> Generator[Drawing]:
    """Open the page in Chromium."""
    page = browser.new_page(viewport={"width": WIDTH, "height": _HEIGHT}, timezone_id="UTC", locale="en-US")
    made = Drawing(page)
    page.on("console", lambda said: made.complaints.append(f"{said.type}: {said.text} {said.location.get('url', '')}"))
    page.on("pageerror", lambda error: made.complaints.append(str(error)))
    page.goto(address)
    yield made
    page.close()
