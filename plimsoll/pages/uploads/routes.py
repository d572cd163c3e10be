"""`POST /api/logs`: the logs of a run, streamed to disk; `GET /api/logs/ID`: how far they are.

The body is a line of JSON that describes the run and its files, then the files, one after the other; or it is a form
with the same fields, as curl -F sends it.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Sequence
from contextlib import aclosing, asynccontextmanager, contextmanager
from dataclasses import asdict, replace
from http import HTTPStatus
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from plimsoll.ingest.runs.loadable import refuse_name, run_label
from plimsoll.ingest.shared.zones import by_windows
from plimsoll.model.errors import Unusable, printable
from plimsoll.model.remark import short
from plimsoll.model.times import Zone
from plimsoll.model.value_text import quantity
from plimsoll.pages.review_jobs.jobs import Upload
from plimsoll.pages.review_jobs.run_reviews import RunReviews
from plimsoll.pages.review_jobs.upload_records import new_file
from plimsoll.pages.runs.report_page import report_page
from plimsoll.pages.shared.actor import actor_of, record_action
from plimsoll.pages.shared.frame import Frame
from plimsoll.pages.uploads.form import NotMultipart, UploadForm, receive
from plimsoll.serve.request_body import TooSlow, parts
from plimsoll.serve.responses import refusal
from plimsoll.up.watched import Watched

_LONGEST_LINE = 1 << 20
_AT_ONCE = 1 << 20
_LONGEST_NAME = 300
_SEE = "; see docs/pages.md"


class UploadedFile(BaseModel):
    """A file of an upload as the sender describes it."""

    model_config = ConfigDict(extra="forbid")

    name: str = ""
    size: Annotated[int, Field(ge=0)]


class UploadDescription(BaseModel):
    """The description of an upload: the first line of the body, or the fields of a form."""

    model_config = ConfigDict(extra="forbid")

    name: str
    labels: list[str] = []
    zone: str = ""
    merge: bool = False
    files: Annotated[list[UploadedFile], Field(min_length=1)]

    @property
    def size(self) -> int:
        """The bytes of all files."""
        return sum(file.size for file in self.files)


class UploadRefused(Exception):
    """A refused upload, with the status and the reason."""

    def __init__(self, status: HTTPStatus, why: str) -> None:
        super().__init__(why)
        self.status = status


class Uploads:
    """Takes uploads: their files go to disk as they arrive, and are never in memory as a whole."""

    def __init__(self, watched: Watched, reviews: RunReviews) -> None:
        self._watched = watched
        self._reviews = reviews
        self._limits = watched.limits
        self._arriving: list[int] = []  # the sizes of those that arrive now

    async def take(self, request: Request) -> Response:
        """Take an upload, and have it read, reviewed and stored."""
        content_type = request.headers.get("content-type", "")
        async with aclosing(parts(request, self._limits.upload_s, self._limits.pause_s)) as body:
            if content_type.partition(";")[0].strip().lower() == "multipart/form-data":
                upload, size = await self._receive_form(content_type, _length(request), body)
            else:
                upload, size = await self._receive_files(body)
        job = await run_in_threadpool(self._reviews.accept, upload, size)
        await run_in_threadpool(record_action, self._watched, actor_of(request), f"uploaded the logs of {job.run}")
        return JSONResponse({"id": job.id, "page": f"/uploads/{job.id}"}, HTTPStatus.ACCEPTED)

    async def check(self, request: Request) -> Response:
        """Answer whether an upload would be taken, from its first line alone, so that nothing is sent in vain."""
        async with aclosing(parts(request, self._limits.body_s, self._limits.pause_s)) as body:
            self._checked((await _first_line(body))[0])
        return Response(status_code=HTTPStatus.NO_CONTENT)

    def _checked(self, about: UploadDescription) -> Upload:
        """Return the described upload, without a folder yet. Raises UploadRefused if it cannot be taken."""
        upload = _described(about)
        self._check_room(about.size, len(about.files))
        return upload

    def _check_room(self, size: int, files: int) -> None:
        """Raise UploadRefused if this many bytes or files cannot be taken now."""
        limits = self._limits
        if size > limits.upload or files > limits.upload_files:
            most = f"{quantity(limits.upload, 'bytes')} in {limits.upload_files:,} files"
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
                f"there is no room for {quantity(size, 'bytes')} on the disk of plimsoll up, of which "
                f"{quantity(limits.disk_margin, 'bytes')} must stay free: make room, or load them with plimsoll ingest",
            )

    @contextmanager
    def _arrives(self, size: int) -> Generator[None]:
        """Count an upload of this size as arriving within the block."""
        self._arriving.append(size)
        try:
            yield
        finally:
            self._arriving.remove(size)

    async def _receive_files(self, body: AsyncGenerator[bytes]) -> tuple[Upload, int]:
        """Receive files after a line of JSON that describes them."""
        about, rest = await _first_line(body)
        upload = self._checked(about)
        with self._arrives(about.size):
            async with self._new_folder() as folder:
                await _save(folder, [file.size for file in about.files], rest, body)
        return replace(upload, folder=folder), about.size

    async def _receive_form(self, content_type: str, length: int, body: AsyncGenerator[bytes]) -> tuple[Upload, int]:
        """Receive a form. The length of its body stands for the size of its files, a little less."""
        self._check_room(length, 1)
        with self._arrives(length):
            async with self._new_folder() as folder:
                try:
                    form = await receive(content_type, body, folder, self._limits.upload_files, _check_form)
                    about = _about_of(form)
                except NotMultipart as error:
                    raise UploadRefused(
                        HTTPStatus.BAD_REQUEST, f"the form describes no upload: {error}{_SEE}"
                    ) from None
                except OSError as error:
                    raise _unwritten(error) from None
                upload = _described(about)
        return replace(upload, folder=folder), about.size

    @asynccontextmanager
    async def _new_folder(self) -> AsyncGenerator[Path]:
        """Create a folder for the files of an upload. It is removed if the block fails."""
        folder = await run_in_threadpool(self._reviews.uploads.new_folder)
        try:
            yield folder
        except BaseException:
            self._reviews.uploads.remove_files(folder.name)
            raise


def _answering(handle: Callable[[Request], Awaitable[Response]]) -> Callable[[Request], Awaitable[Response]]:
    """Return an endpoint that answers why an upload was refused."""

    async def endpoint(request: Request) -> Response:
        try:
            return await handle(request)
        except UploadRefused as error:
            return refusal(error.status, str(error), headers={"Connection": "close"})
        except TooSlow:
            text = "the logs did not arrive in time"
            return refusal(HTTPStatus.REQUEST_TIMEOUT, text, headers={"Connection": "close"})

    return endpoint


def _length(request: Request) -> int:
    """Return the length of a body. Raises UploadRefused without Content-Length, as room is checked by it."""
    length = request.headers.get("content-length", "")
    if not length.isascii() or not length.isdecimal():
        raise UploadRefused(HTTPStatus.LENGTH_REQUIRED, "a form must say its Content-Length, as curl does for files")
    return int(length)


def _check_form(form: UploadForm) -> None:
    _described(_about_of(form))


def _about_of(form: UploadForm) -> UploadDescription:
    """Return the description in a form. Raises UploadRefused if it is invalid."""
    try:
        return UploadDescription.model_validate(form.description())
    except ValidationError as error:
        raise UploadRefused(
            HTTPStatus.BAD_REQUEST, f"the form describes no upload: {_first_mistake(error)}{_SEE}"
        ) from None


def _described(about: UploadDescription) -> Upload:
    """Return the described upload, without a folder yet. Raises UploadRefused if a text is invalid."""
    try:
        refuse_name(about.name, "the name")
        labels = tuple(run_label(text, "the label") for text in about.labels)
        if about.zone and not by_windows(about.zone):
            Zone.parse(about.zone)
    except Unusable as error:
        raise UploadRefused(HTTPStatus.UNPROCESSABLE_ENTITY, str(error)) from None
    names = tuple(_shown(file.name, at) for at, file in enumerate(about.files, 1))
    return Upload(Path(), names, about.name, labels, about.zone, about.merge)


async def _first_line(body: AsyncGenerator[bytes]) -> tuple[UploadDescription, bytes]:
    """Return the description in the first line, and the bytes read after it. Raises UploadRefused if it is invalid."""
    line = b""
    while b"\n" not in line:
        chunk = await anext(body, b"")
        line += chunk
        if not chunk or len(line) > _LONGEST_LINE + _AT_ONCE:
            break
    line, _, rest = line.partition(b"\n")
    try:
        return UploadDescription.model_validate_json(line), rest
    except ValidationError as error:
        raise UploadRefused(
            HTTPStatus.BAD_REQUEST, f"the first line describes no upload: {_first_mistake(error)}{_SEE}"
        ) from None


def _first_mistake(error: ValidationError) -> str:
    first = error.errors()[0]
    return f"{'.'.join(map(str, first['loc']))} {first['msg']}"


def _unwritten(error: OSError) -> UploadRefused:
    why = f"the logs cannot be written to the disk of plimsoll up: {error.strerror}"
    return UploadRefused(HTTPStatus.INSUFFICIENT_STORAGE, why)


async def _save(folder: Path, sizes: Sequence[int], rest: bytes, body: AsyncGenerator[bytes]) -> None:
    """Write the files to a folder as they arrive. Raises UploadRefused if their sizes differ."""
    try:
        for number, size in enumerate(sizes):
            with new_file(folder / str(number)) as file:
                lacks = size
                while lacks:
                    rest = rest or await anext(body, b"")
                    if not rest:
                        raise UploadRefused(
                            HTTPStatus.BAD_REQUEST, "the logs broke off before their end; send them again"
                        )
                    part, rest = rest[:lacks], rest[lacks:]
                    lacks -= len(part)
                    await run_in_threadpool(file.write, part)
    except OSError as error:
        raise _unwritten(error) from None
    if rest or await anext(body, b""):
        raise UploadRefused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "there are more bytes than the first line says")


def _shown(name: str, number: int) -> str:
    """Return the name of a file for people, without the folders that some senders put before it."""
    return short(printable(name.replace("\\", "/").rpartition("/")[2]).strip(), _LONGEST_NAME) or f"file {number}"


def routes(watched: Watched, reviews: RunReviews) -> list[Route]:
    """Return the routes that programs and the upload form use."""
    uploads = Uploads(watched, reviews)

    def progress(request: Request) -> Response:
        upload = reviews.upload(request.path_params["id"])
        if upload is None:
            return refusal(HTTPStatus.NOT_FOUND, "there is no such upload")
        return JSONResponse(asdict(upload))

    return [
        Route("/api/logs", _answering(uploads.take), methods=["POST"]),
        Route("/api/logs/check", _answering(uploads.check), methods=["POST"]),
        Route("/api/logs/{id}", progress),
    ]


def page_routes(watched: Watched, frame: Frame, reviews: RunReviews) -> list[Route]:
    """Return the routes of the pages of uploads."""

    def page(request: Request) -> Response:
        upload = reviews.upload(request.path_params["id"])
        if upload is None:
            return _missing_page(frame, request)
        job = upload.job
        kept = reviews.kept.find(job.reviewed) if job.reviewed else None
        stage = reviews.jobs.describe(job)
        return frame.page(request, "uploads/upload.html.j2", job.run, record=upload, job=job, stage=stage, kept=kept)

    def report(request: Request) -> Response:
        upload = reviews.upload(request.path_params["id"])
        text = reviews.kept.report(upload.job.reviewed) if upload and upload.job.reviewed else None
        if upload is None or text is None:
            return _missing_page(frame, request)
        return report_page(frame, request, text, upload=upload)

    def stop(request: Request) -> Response:
        id_ = request.path_params["id"]
        if stopped := reviews.jobs.cancel(id_):
            record_action(watched, actor_of(request), f"stopped the upload of {stopped.run}")
        return RedirectResponse(f"/uploads/{id_}", HTTPStatus.SEE_OTHER)

    def forget(request: Request) -> Response:
        if forgotten := reviews.forget_upload(request.path_params["id"]):
            record_action(watched, actor_of(request), f"removed the upload of {forgotten.job.run} from the list")
        return RedirectResponse("/runs", HTTPStatus.SEE_OTHER)

    return [
        Route("/uploads/{id:str}", page),
        Route("/uploads/{id:str}/review", report),
        Route("/uploads/{id:str}/stop", stop, methods=["POST"]),
        Route("/uploads/{id:str}/forget", forget, methods=["POST"]),
    ]


def _missing_page(frame: Frame, request: Request) -> Response:
    return frame.missing(request, "There is no such upload.", "The page Runs lists the latest uploads.")
