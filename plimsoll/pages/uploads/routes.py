"""`POST /api/logs`: receives the logs of a run as a form, to disk; `GET /api/logs/ID`: the progress of an upload."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import asdict, replace
from http import HTTPStatus
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.formparsers import MultiPartException
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from plimsoll.ingest.runs.load import refuse_name, run_label
from plimsoll.ingest.shared.zones import find_windows_zone
from plimsoll.model.errors import Unusable, escape
from plimsoll.model.remark import shorten
from plimsoll.model.times import Zone
from plimsoll.model.value_text import format_value
from plimsoll.pages.review_jobs.jobs import Upload
from plimsoll.pages.review_jobs.kept_reviews import REPORT
from plimsoll.pages.review_jobs.run_reviews import RunReviews
from plimsoll.pages.runs.routes import report_page
from plimsoll.pages.shared.forms import find_actor, record_action
from plimsoll.pages.shared.frame import Frame
from plimsoll.pages.uploads.form import FormItem, UploadParser, describe
from plimsoll.serve.request_body import TooSlow, stream_body
from plimsoll.serve.responses import make_refusal
from plimsoll.up.watched import Watched

_LONGEST_DESCRIPTION = 1 << 20
_LONGEST_NAME = 300
_SEE = "; see docs/pages.md"


class UploadedFile(BaseModel):
    """A file of an upload, as the sender describes it; `size` is in bytes."""

    model_config = ConfigDict(extra="forbid")

    name: str = ""
    size: Annotated[int, Field(ge=0)]


class UploadDescription(BaseModel):
    """The description of an upload: the fields of a form."""

    model_config = ConfigDict(extra="forbid")

    name: str
    labels: list[str] = []
    zone: str = ""
    merge: bool = False
    files: Annotated[list[UploadedFile], Field(min_length=1)]


class UploadRefused(Exception):
    """The error that an upload is refused: the reason, and the HTTP status to answer with."""

    def __init__(self, status: HTTPStatus, why: str) -> None:
        super().__init__(why)
        self.status = status


class Uploads:
    """Receives uploads. Files are written to disk as they arrive, and are never completely in memory."""

    def __init__(self, watched: Watched, reviews: RunReviews) -> None:
        self._watched = watched
        self._reviews = reviews
        self._limits = watched.limits
        self._arriving: list[int] = []  # the sizes of uploads in progress

    async def take(self, request: Request) -> Response:
        """Receive an upload, and queue it to be read, reviewed and stored."""
        if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "multipart/form-data":
            why = f"send a form, as curl does with -F files=@LOG{_SEE}"
            raise UploadRefused(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, why)
        text = request.headers.get("content-length", "")
        if not text.isascii() or not text.isdecimal():
            why = "a form must say its Content-Length, as curl does for files"
            raise UploadRefused(HTTPStatus.LENGTH_REQUIRED, why)
        length = int(text)  # it approximates the size of the files, which is a little less
        self._check_room(length, 1)
        self._arriving.append(length)
        try:
            upload, size = await self._receive(request)
        finally:
            self._arriving.remove(length)
        job = await run_in_threadpool(self._reviews.accept, upload, size)
        await run_in_threadpool(record_action, self._watched, find_actor(request), f"uploaded the logs of {job.run}")
        return JSONResponse({"id": job.id, "page": f"/uploads/{job.id}"}, HTTPStatus.ACCEPTED)

    async def check(self, request: Request) -> Response:
        """Answer whether an upload would be accepted. The request's body describes the upload as JSON."""
        text = b""
        async with aclosing(stream_body(request, self._limits.body_s, self._limits.pause_s)) as body:
            async for chunk in body:
                text += chunk
                if len(text) > _LONGEST_DESCRIPTION:
                    break
        about = _validate_description(lambda: UploadDescription.model_validate_json(text))
        _parse_description(about)
        self._check_room(sum(file.size for file in about.files), len(about.files))
        return Response(status_code=HTTPStatus.NO_CONTENT)

    def _check_room(self, size: int, files: int) -> None:
        """Raise UploadRefused if an upload of this size (bytes) and number of files cannot be accepted now."""
        limits = self._limits
        if size > limits.upload or files > limits.upload_files:
            most = f"{format_value(limits.upload, 'bytes')} in {limits.upload_files:,} files"
            raise UploadRefused(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
                f"the logs are more than can be uploaded at once, {most}: pack them, or load them with plimsoll ingest",
            )
        if len(self._arriving) >= limits.uploads:
            raise UploadRefused(
                HTTPStatus.SERVICE_UNAVAILABLE, "others upload logs at the moment; try again when they are done"
            )
        room = self._reviews.uploads.free() - sum(self._arriving) - limits.disk_margin
        if size > room:
            raise UploadRefused(
                HTTPStatus.INSUFFICIENT_STORAGE,
                f"there is no room for {format_value(size, 'bytes')} on the disk of plimsoll up, of which "
                f"{format_value(limits.disk_margin, 'bytes')} must stay free: make room, or load them with plimsoll "
                "ingest",
            )

    async def _receive(self, request: Request) -> tuple[Upload, int]:
        """Write the files of a form to a new folder; return the upload and the size of its files in bytes.

        If this fails, the folder is removed.
        """
        uploads, limits = self._reviews.uploads, self._limits
        folder = await run_in_threadpool(uploads.new_folder)
        try:
            async with aclosing(stream_body(request, limits.upload_s, limits.pause_s)) as body:
                parser = UploadParser(request.headers, body, folder, limits.upload_files, check=_parse_items)
                upload, size = _parse_items(await parser.items_of_form())
            return replace(upload, folder=folder), size
        except BaseException as error:
            uploads.remove_files(folder.name)
            if isinstance(error, MultiPartException):
                why = f"this describes no upload: {error}{_SEE}"
                raise UploadRefused(HTTPStatus.BAD_REQUEST, why) from None
            if isinstance(error, OSError):
                why = f"the logs cannot be written to the disk of plimsoll up: {error.strerror}"
                raise UploadRefused(HTTPStatus.INSUFFICIENT_STORAGE, why) from None
            raise


def _answer_refusals(handle: Callable[[Request], Awaitable[Response]]) -> Callable[[Request], Awaitable[Response]]:
    """Return an endpoint that calls `handle`, and answers with the reason if the upload is refused."""

    async def endpoint(request: Request) -> Response:
        try:
            return await handle(request)
        except UploadRefused as error:
            return make_refusal(error.status, str(error), headers={"Connection": "close"})
        except TooSlow:
            text = "the logs did not arrive in time"
            return make_refusal(HTTPStatus.REQUEST_TIMEOUT, text, headers={"Connection": "close"})

    return endpoint


def _validate_description(parse: Callable[[], UploadDescription]) -> UploadDescription:
    """Return the result of `parse`. Raise UploadRefused, naming the first mistake, if the description is invalid."""
    try:
        return parse()
    except ValidationError as error:
        first = error.errors()[0]
        why = f"this describes no upload: {'.'.join(map(str, first['loc']))} {first['msg']}{_SEE}"
        raise UploadRefused(HTTPStatus.BAD_REQUEST, why) from None


def _parse_items(items: Sequence[FormItem]) -> tuple[Upload, int]:
    """Return the upload that a form describes, without its folder, and the size of its files in bytes."""
    about = _validate_description(lambda: UploadDescription.model_validate(describe(items)))
    return _parse_description(about), sum(file.size for file in about.files)


def _parse_description(about: UploadDescription) -> Upload:
    """Return the upload that a description describes, without its folder. Raise UploadRefused if a text is invalid."""
    try:
        refuse_name(about.name, "the name")
        labels = tuple(run_label(text, "the label") for text in about.labels)
        if about.zone and not find_windows_zone(about.zone):
            Zone.parse(about.zone)
    except Unusable as error:
        raise UploadRefused(HTTPStatus.UNPROCESSABLE_ENTITY, str(error)) from None
    names = tuple(_format_file_name(file.name, at) for at, file in enumerate(about.files, 1))
    return Upload(Path(), names, about.name, labels, about.zone, about.merge)


def _format_file_name(name: str, number: int) -> str:
    """Return the name of an uploaded file for display, without folders; `file NUMBER` if the name is empty."""
    return shorten(escape(name.replace("\\", "/").rpartition("/")[2]).strip(), _LONGEST_NAME) or f"file {number}"


def list_routes(watched: Watched, frame: Frame, reviews: RunReviews) -> list[Route]:
    """Return the routes of the upload API and of the upload pages."""
    uploads = Uploads(watched, reviews)

    def progress(request: Request) -> Response:
        upload = reviews.upload(request.path_params["id"])
        if upload is None:
            return make_refusal(HTTPStatus.NOT_FOUND, "there is no such upload")
        return JSONResponse(asdict(upload))

    def missing(request: Request) -> Response:
        return frame.missing(request, "There is no such upload.", "The page Runs lists the latest uploads.")

    def page(request: Request) -> Response:
        upload = reviews.upload(request.path_params["id"])
        if upload is None:
            return missing(request)
        job = upload.job
        kept = reviews.kept.find(job.reviewed) if job.reviewed else None
        stage = reviews.jobs.describe(job)
        return frame.page(request, "uploads/upload.html.j2", job.run, record=upload, job=job, stage=stage, kept=kept)

    def report(request: Request) -> Response:
        upload = reviews.upload(request.path_params["id"])
        text = reviews.kept.text(upload.job.reviewed, REPORT) if upload and upload.job.reviewed else None
        if upload is None or text is None:
            return missing(request)
        return report_page(frame, request, text, upload=upload)

    def stop(request: Request) -> Response:
        id_ = request.path_params["id"]
        if stopped := reviews.jobs.cancel(id_):
            record_action(watched, find_actor(request), f"stopped the upload of {stopped.run}")
        return RedirectResponse(f"/uploads/{id_}", HTTPStatus.SEE_OTHER)

    def forget(request: Request) -> Response:
        if forgotten := reviews.forget_upload(request.path_params["id"]):
            record_action(watched, find_actor(request), f"removed the upload of {forgotten.job.run} from the list")
        return RedirectResponse("/runs", HTTPStatus.SEE_OTHER)

    return [
        Route("/api/logs", _answer_refusals(uploads.take), methods=["POST"]),
        Route("/api/logs/check", _answer_refusals(uploads.check), methods=["POST"]),
        Route("/api/logs/{id}", progress),
        Route("/uploads/{id:str}", page),
        Route("/uploads/{id:str}/review", report),
        Route("/uploads/{id:str}/stop", stop, methods=["POST"]),
        Route("/uploads/{id:str}/forget", forget, methods=["POST"]),
    ]
