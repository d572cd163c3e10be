"""All pages of `plimsoll up`."""

from collections.abc import Sequence

from starlette.routing import BaseRoute

from live.watched import Watched
from pages import alerts, health, rules, static_files
from pages.frame import Frame


def routes(watched: Watched) -> Sequence[BaseRoute]:
    """The routes of all pages and of the data they ask for."""
    frame = Frame(watched.zone)
    return [
        *static_files.routes(),
        *health.routes(watched, frame),
        *alerts.routes(watched, frame),
        *rules.routes(watched, frame),
    ]
