"""A page in Chromium, and what is wrong with it."""

from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

from tests.conftest import lacking
from tests.grafana_components import packages

if TYPE_CHECKING:
    from playwright.sync_api import Browser, ConsoleMessage, Error, Page, Request, Route

WIDE, NARROW = 1440, 390
# Of what is alike in a list, the first: axe takes a millisecond for each element, and a report has 16,000. What it returns
# puts the others back. Cells stay, since a table without some would be another.
_FEW = """(most) => {
  const gone = [];
  const thin = (parent) => {
    const seen = {};
    for (const one of [...parent.children]) {
      const kind = `${one.tagName} ${one.getAttribute("class")}`;
      seen[kind] = (seen[kind] ?? 0) + 1;
      if (seen[kind] <= most || one.matches("td, th, col")) thin(one);
      else {
        gone.push([one, parent, one.nextSibling]);
        one.remove();
      }
    }
  };
  thin(document.body);
  return () => gone.reverse().forEach(([one, parent, next]) => parent.insertBefore(one, next?.parentNode === parent ? next : null));
}"""
_MOST_ALIKE = 4
_RULES = "axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'], resultTypes: ['violations']})"


@contextmanager
def hanging(page: "Page", address: str):
    """As if the server hung that is asked for an address: requests wait, and are ended in the end."""
    waiting: list[Route] = []

    def hold(route: "Route"):
        waiting.append(route)

    page.route(address, hold)
    try:
        yield
    finally:
        for route in waiting:
            route.abort()
        page.unroute(address)


@dataclass
class PageView:
    """A page. `complaints` are what it wrote to the console, errors, and requests to other machines."""

    page: "Page"
    complaints: list[str] = field(default_factory=list[str])

    def violations(self) -> list[str]:
        """What axe-core finds: the rule, and the first element. Of what is alike in a list it sees the first four."""
        if missing := packages.missing():
            lacking("axe-core", missing)
        script = packages.folder() / "node_modules" / "axe-core" / "axe.min.js"
        self.page.evaluate(script.read_text(encoding="utf-8"))
        put_back = self.page.evaluate_handle(_FEW, _MOST_ALIKE)
        report = self.page.evaluate(_RULES)
        put_back.evaluate("again => again()")
        return [f"{rule['id']}: {rule['nodes'][0]['html'][:200]}" for rule in report["violations"]]

    def faults(self) -> list[str]:
        """Return all that is wrong: content wider than the window, violations and complaints."""
        return [*([] if self.fits else ["wider than the window"]), *self.violations(), *self.complaints]

    def crowded(self) -> list[str]:
        """Return the texts that are cut, or lie over each other."""
        return self.page.evaluate(Path(__file__).with_name("boxes.js").read_text(encoding="utf-8"))

    @property
    def fits(self) -> bool:
        """Whether nothing is wider than the window, once the page's styles are there."""
        self.page.wait_for_load_state("load")
        return self.page.evaluate("document.documentElement.scrollWidth <= innerWidth")


_FREE: "WeakKeyDictionary[Browser, list[Page]]" = WeakKeyDictionary()


@contextmanager
def opened(browser: "Browser", address: str, *, width: int = WIDE, scheme: str = "light", own: bool = False):
    """A page at an address. `own`: what is done to it stays in it, so that it is no other's later.

    A page that was used before takes a quarter of the time: each new one has a process. Those of other servers see
    nothing of each other, as what a page keeps is of its port; cookies, which are not, are deleted.
    """
    free = _FREE.setdefault(browser, [])
    page = free.pop() if free and not own else browser.new_context().new_page()
    page.set_default_timeout(300_000)
    page.set_viewport_size({"width": width, "height": 900})
    look: dict[str, Any] = {"media": "null", "color_scheme": scheme}
    page.emulate_media(**look)
    view = PageView(page)
    here = urlsplit(address).netloc

    def requested(request: "Request"):
        if urlsplit(request.url).netloc not in ("", here) if here else request.url != address:
            view.complaints.append(f"asks {request.url}")

    def log(message: "ConsoleMessage"):
        view.complaints.append(message.text)

    def failed(error: "Error"):
        view.complaints.append(str(error))

    page.on("console", log)
    page.on("pageerror", failed)
    page.on("request", requested)
    is_done = False
    try:
        page.goto(address)
        yield view
        is_done = True
    finally:
        if is_done and not own:
            page.remove_listener("console", log)
            page.remove_listener("pageerror", failed)
            page.remove_listener("request", requested)
            page.unroute_all()
            page.goto("about:blank")
            page.context.clear_cookies()
            free.append(page)
        else:
            page.context.close()
