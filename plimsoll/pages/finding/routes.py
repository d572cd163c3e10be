"""`GET /api/find?q=...`: finds the hosts, signals, runs and rules whose names contain all words of a text."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from plimsoll.dashboards.areas import load_areas
from plimsoll.model.errors import Unreachable, Unusable, escape
from plimsoll.pages.charts.chart_spec import Spec
from plimsoll.pages.shared.frame import Frame, run_path
from plimsoll.up.watched import Watched

_MOST_OF_A_KIND = 8
_LONGEST = 100


@dataclass(frozen=True, slots=True)
class Match:
    """A page that the search can find: its kind, name, link, and further searched names (`also`).

    Of equally good matches, `usual` pages come first.
    """

    kind: str
    name: str
    link: str
    also: str = ""
    usual: bool = False


def list_routes(watched: Watched, frame: Frame) -> list[Route]:
    """Return the route `GET /api/find`, which the script of the search field requests."""

    def find(request: Request) -> Response:
        links = frame.links(request)
        words = request.query_params.get("q", "")[:_LONGEST].casefold().split()
        kinds = (_find_hosts(watched), _find_signals(watched), _find_runs(watched), _find_rules(watched))
        matches = [match for kind in kinds for match in _select_best(kind, words)] if words else []
        answer = [{"kind": match.kind, "name": escape(match.name), "link": links.kept(match.link)} for match in matches]
        return JSONResponse(answer, headers={"Cache-Control": "no-store"})

    return [Route("/api/find", find)]


def _select_best(candidates: Iterable[Match], words: list[str]) -> list[Match]:
    """Return the best candidates whose names contain all words.

    Names that begin with the first word come first, then `usual` candidates, then short names.
    """
    matches = [match for match in candidates if all(word in f"{match.name} {match.also}".casefold() for word in words)]
    matches.sort(
        key=lambda match: (not match.name.casefold().startswith(words[0]), not match.usual, len(match.name), match.name)
    )
    return matches[:_MOST_OF_A_KIND]


def _find_hosts(watched: Watched) -> Iterator[Match]:
    for host in watched.health().hosts:
        yield Match("host", host.name, f"/hosts/{quote(host.name, safe='')}")


def _find_signals(watched: Watched) -> Iterator[Match]:
    usual = load_areas().health.hosts
    for name, signal in watched.site.catalogue.signals.items():
        link = f"/explore?line={quote(str(Spec(name)), safe='')}"
        yield Match("signal", signal.title, link, name.replace(".", " "), name in usual)


def _find_runs(watched: Watched) -> Iterator[Match]:
    try:
        runs = watched.store.runs.summaries()
    except (Unreachable, Unusable):
        return  # the runs page says why
    for run in runs:
        yield Match("run", run.name, run_path(run.name), " ".join(run.labels.values()))


def _find_rules(watched: Watched) -> Iterator[Match]:
    for name, rule in watched.site.catalogue.rules.items():
        yield Match("rule", name, f"/rules/{quote(name, safe='')}", f"{name.replace('-', ' ')} {rule.summary}")
