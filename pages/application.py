"""All pages of `plimsoll up`."""

from collections.abc import Sequence

from starlette.routing import BaseRoute

from live.watched import Watched
from pages import alerts, chart_api, dashboards, health, rules, runs, static_files, upload_page, uploads
from pages.frame import Frame
from pages.run_reviews import RunReviews
from pages.scene import Scenes


def routes(watched: Watched) -> Sequence[BaseRoute]:
    """The routes of all pages and of the data they ask for."""
    frame, scenes, reviews = Frame(watched.zone), Scenes(watched), RunReviews(watched)
    return [
        *static_files.routes(),
        *health.routes(watched, frame),
        *alerts.routes(watched, frame),
        *rules.routes(watched, frame),
        *chart_api.routes(watched, frame, scenes),
        *dashboards.routes(watched, frame, scenes),
        *runs.routes(watched, frame, reviews),
        *uploads.routes(watched, reviews),
        *upload_page.routes(frame, reviews),
    ]
