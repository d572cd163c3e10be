"""The page of an upload: how far it is, and at the end its review, or what is wrong with it."""

from http import HTTPStatus

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from plimsoll.pages.review_jobs.run_reviews import RunReviews
from plimsoll.pages.runs.report_page import report_page
from plimsoll.pages.shared.asking import asking, record
from plimsoll.pages.shared.frame import Frame
from plimsoll.up.watched import Watched


def routes(watched: Watched, frame: Frame, reviews: RunReviews) -> list[Route]:
    """The routes."""

    def page(request: Request) -> Response:
        found = reviews.upload(request.path_params["id"])
        if found is None:
            return _missing(frame, request)
        job = found.job
        kept = reviews.kept.find(job.reviewed) if job.reviewed else None
        stage = reviews.jobs.describe(job)
        return frame.page(request, "uploads/upload.html.j2", job.run, record=found, job=job, stage=stage, kept=kept)

    def report(request: Request) -> Response:
        found = reviews.upload(request.path_params["id"])
        text = reviews.kept.report(found.job.reviewed) if found and found.job.reviewed else None
        if found is None or text is None:
            return _missing(frame, request)
        return report_page(frame, request, text, upload=found)

    def stop(request: Request) -> Response:
        id_ = request.path_params["id"]
        if stopped := reviews.jobs.cancel(id_):
            record(watched, asking(request), f"stopped the upload of {stopped.run}")
        return RedirectResponse(f"/uploads/{id_}", HTTPStatus.SEE_OTHER)

    def forget(request: Request) -> Response:
        if forgotten := reviews.forget_upload(request.path_params["id"]):
            record(watched, asking(request), f"removed the upload of {forgotten.job.run} from the list")
        return RedirectResponse("/runs", HTTPStatus.SEE_OTHER)

    return [
        Route("/uploads/{id:str}", page),
        Route("/uploads/{id:str}/review", report),
        Route("/uploads/{id:str}/stop", stop, methods=["POST"]),
        Route("/uploads/{id:str}/forget", forget, methods=["POST"]),
    ]


def _missing(frame: Frame, request: Request) -> Response:
    return frame.missing(request, "There is no such upload.", "The page Runs lists the latest uploads.")
