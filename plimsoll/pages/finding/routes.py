"""`GET /api/find?q=...`: hosts, signals, runs and rules whose names have all words of a text."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from plimsoll.dashboards.areas import load_areas
from plimsoll.model.errors import Unreachable, Unusable
from plimsoll.model.errors import printable as shown
from plimsoll.pages.charts.chart_spec import Spec
from plimsoll.pages.shared.frame import Frame
from plimsoll.pages.shared.run_links import run_path
from plimsoll.up.watched import Watched

_MOST_OF_A_KIND = 8
_LONGEST = 100


@dataclass(frozen=True, slots=True)
class Found:
    """Something that has a page. `also` are other names that it is found by. The `usual` come first."""

    kind: str
    name: str
    link: str
    also: str = ""
    usual: bool = False


def routes(watched: Watched, frame: Frame) -> list[Route]:
    """The route that the pages' script asks."""

    def find(request: Request) -> Response:
        links = frame.links(request)
        words = request.query_params.get("q", "")[:_LONGEST].casefold().split()
        kinds = (_hosts(watched), _signals(watched), _runs(watched), _rules(watched))
        found = [one for kind in kinds for one in best(kind, words)] if words else []
        answer = [{"kind": one.kind, "name": shown(one.name), "link": links.kept(one.link)} for one in found]
        return JSONResponse(answer, headers={"Cache-Control": "no-store"})

    return [Route("/api/find", find)]


def best(every: Iterable[Found], words: list[str]) -> list[Found]:
    """What has all the words in its names: names that begin with the first one, then what is usual, then short ones."""
    matching = [one for one in every if all(word in f"{one.name} {one.also}".casefold() for word in words)]
    matching.sort(
        key=lambda one: (not one.name.casefold().startswith(words[0]), not one.usual, len(one.name), one.name)
    )
    return matching[:_MOST_OF_A_KIND]


def _hosts(watched: Watched) -> Iterator[Found]:
    for one in watched.health().hosts:
        yield Found("host", one.name, f"/hosts/{quote(one.name, safe='')}")


def _signals(watched: Watched) -> Iterator[Found]:
    usual = load_areas().health.hosts
    for name, signal in watched.site.catalogue.signals.items():
        link = f"/explore?line={quote(str(Spec(name)), safe='')}"
        yield Found("signal", signal.title, link, name.replace(".", " "), name in usual)


def _runs(watched: Watched) -> Iterator[Found]:
    try:
        runs = watched.store.runs.summaries()
    except (Unreachable, Unusable):
        return  # the page of runs says why
    for one in runs:
        yield Found("run", one.name, run_path(one.name), " ".join(one.labels.values()))


def _rules(watched: Watched) -> Iterator[Found]:
    for name, rule in watched.site.catalogue.rules.items():
        yield Found("rule", name, f"/rules/{quote(name, safe='')}", f"{name.replace('-', ' ')} {rule.summary}")
