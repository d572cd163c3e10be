"""A page in Chromium, and what is wrong with it."""

from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from tests.conftest import lacking
from tests.grafana_components import packages

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

WIDE, NARROW = 1440, 390
_RULES = "axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'], resultTypes: ['violations']})"
_SHIFT = """new Promise((done) => {
  let sum = 0;
  new PerformanceObserver((seen) => { for (const one of seen.getEntries()) sum += one.value; })
    .observe({type: "layout-shift", buffered: true});
  setTimeout(() => done(sum), 300);
})"""


@dataclass
class Opened:
    """A page. `complaints` are what it wrote to the console, errors, and requests to other machines."""

    page: "Page"
    complaints: list[str] = field(default_factory=list[str])

    def violations(self) -> list[str]:
        """What axe-core finds: the rule, and the first element."""
        if missing := packages.missing():
            lacking("axe-core", missing)
        script = packages.folder() / "node_modules" / "axe-core" / "axe.min.js"
        self.page.evaluate(script.read_text(encoding="utf-8"))
        found = self.page.evaluate(_RULES)
        return [f"{one['id']}: {one['nodes'][0]['html'][:200]}" for one in found["violations"]]

    @property
    def shift(self) -> float:
        """How far what was shown already has moved: Chromium's layout shift, of which 0.1 is called good."""
        return self.page.evaluate(_SHIFT)

    @property
    def fits(self) -> bool:
        """Whether nothing is wider than the window, once the page's styles are there."""
        self.page.wait_for_load_state("load")
        return self.page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@contextmanager
def opened(browser: "Browser", address: str, *, width: int = WIDE, scheme: str = "light"):
    """A page at an address, in a new context that is closed in the end."""
    look: dict[str, Any] = {"viewport": {"width": width, "height": 900}, "color_scheme": scheme}
    context = browser.new_context(**look)
    context.set_default_timeout(300_000)
    page = context.new_page()
    one = Opened(page)
    here = urlsplit(address).netloc

    def requested(request):
        if urlsplit(request.url).netloc not in ("", here):
            one.complaints.append(f"asks {request.url}")

    page.on("console", lambda said: one.complaints.append(said.text))
    page.on("pageerror", lambda error: one.complaints.append(str(error)))
    page.on("request", requested)
    try:
        page.goto(address)
        yield one
    finally:
        context.close()
