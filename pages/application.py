"""All pages of `plimsoll up`."""

from collections.abc import Sequence

from starlette.routing import BaseRoute

from live.watched import Watched
from pages import health, runs, static_files, upload_page, uploads
from pages.frame import Frame
from pages.run_reviews import RunReviews


def routes(watched: Watched) -> Sequence[BaseRoute]:
    """The routes of all pages and of the data they ask for."""
    frame = Frame(watched.zone)
    reviews = RunReviews(watched)
    return [
        *static_files.routes(),
        *health.routes(watched, frame),
        *runs.routes(watched, frame, reviews),
        *uploads.routes(watched, reviews),
        *upload_page.routes(frame, reviews),
    ]
