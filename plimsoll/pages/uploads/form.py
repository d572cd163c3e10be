"""Logs that are sent as a form (`multipart/form-data`, RFC 7578), as `curl -F files=@log.csv` sends them.

The form is parsed as it arrives, and its files go to disk: at most one piece is in memory.
"""

import re
from collections import defaultdict
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, NamedTuple

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.concurrency import run_in_threadpool

from plimsoll.pages.review_jobs.upload_records import new_file

FILES = "files"
SETTINGS = "plimsoll.toml"
_MANY = "labels"
_LONGEST_TEXTS = 32 << 10
_LONGEST_NAME = 200
_SUFFIXES = re.compile(r"(\.(csv|tsv|txt|log|zip|tar|t?gz|bz2|xz|zst|json|lp))+$", re.IGNORECASE)
_PLAIN = ("", "7bit", "8bit", "binary")


class NotMultipart(Exception):
    """The body is not what its Content-Type says; the text says why."""


class _Head(NamedTuple):
    """The beginning of a part: the name of the field, and the file's name if it is a file."""

    field: str
    file: str | None


@dataclass
class UploadForm:
    """What arrived: the texts of each field, and the names and sizes of the files in their order."""

    texts: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    names: list[str] = field(default_factory=list[str])
    sizes: list[int] = field(default_factory=list[int])

    def description(self) -> dict[str, Any]:
        """Return the upload in the terms of the JSON line. Raises NotMultipart if a field is there twice.

        Without a name it is called after its first log, as the page calls it.
        """
        description: dict[str, Any] = {"name": self._propose_name()}
        for name, texts in self.texts.items():
            if name != _MANY and len(texts) > 1:
                raise NotMultipart(f"the field {name} is there {len(texts)} times")
            description[name] = texts if name == _MANY else texts[0].strip()
        files = [{"name": name, "size": size} for name, size in zip(self.names, self.sizes, strict=True)]
        return {**description, FILES: files}

    def _propose_name(self) -> str:
        names = [name.replace("\\", "/").rpartition("/")[2] for name in self.names]
        log = next((name for name in names if name != SETTINGS), "")
        return _SUFFIXES.sub("", log).strip()[:_LONGEST_NAME]


async def receive(
    content_type: str, body: AsyncGenerator[bytes], folder: Path, most_files: int, check: Callable[[UploadForm], None]
) -> UploadForm:
    """Write the files of a form to a folder, named by their numbers from 0.

    `check` is called with what is known when the first file begins. Raises NotMultipart if the body is not such a
    form, or has more files or text than is allowed; OSError if a file cannot be written.
    """
    parser, form = _Parser(content_type), UploadForm()
    file: IO[bytes] | None = None
    text = ""
    left = _LONGEST_TEXTS
    try:
        async for chunk in body:
            for event in parser.feed(chunk):
                if isinstance(event, _Head):
                    if file:
                        await run_in_threadpool(file.close)
                    file, text = _begin_part(event, form, folder, most_files), event.field
                    left -= 0 if file else len(event.field)
                    if len(form.names) == 1 and file:
                        check(form)
                elif file:
                    form.sizes[-1] += len(event)
                    await run_in_threadpool(file.write, event)
                else:
                    left -= len(event)
                    if left >= 0:
                        form.texts[text][-1] += event.decode(errors="replace")
                if left < 0:
                    raise NotMultipart("its fields of text are too long")
    finally:
        if file:
            await run_in_threadpool(file.close)
    if not parser.ended:
        raise NotMultipart("it breaks off before its end")
    return form


def _begin_part(head: _Head, form: UploadForm, folder: Path, most_files: int) -> IO[bytes] | None:
    """Return the new file of a part; None for a field of text, which is added to the form."""
    if head.file is None:
        if head.field == FILES:
            raise NotMultipart("the field files is text, not a file; with curl write -F files=@LOG")
        form.texts[head.field].append("")
        return None
    if head.field != FILES:
        raise NotMultipart(f"the field {head.field} is a file; send logs in the field {FILES}")
    if len(form.names) == most_files:
        raise NotMultipart(f"it has more than {most_files:,} files; pack them")
    form.names.append(head.file)
    form.sizes.append(0)
    return new_file(folder / str(len(form.names) - 1))


class _Parser:
    """Parses a body of a Content-Type. Raises NotMultipart if that names no boundary."""

    def __init__(self, content_type: str) -> None:
        boundary = parse_options_header(content_type)[1].get(b"boundary")
        if not boundary:
            raise NotMultipart("its Content-Type names no boundary")
        self.ended = False
        self._events: list[_Head | bytes] = []
        self._name = self._value = b""
        self._headers: dict[str, bytes] = {}
        try:
            self._parser = MultipartParser(
                boundary,
                {
                    "on_part_begin": self._headers.clear,
                    "on_header_field": self._add_name,
                    "on_header_value": self._add_value,
                    "on_header_end": self._end_header,
                    "on_headers_finished": self._end_headers,
                    "on_part_data": lambda data, start, end: self._events.append(data[start:end]),
                    "on_end": self._end,
                },
            )
        except FormParserError as error:
            raise NotMultipart(str(error)) from None

    def feed(self, data: bytes) -> list[_Head | bytes]:
        """Return what begins or goes on in the next bytes, in order. Raises NotMultipart if they are malformed."""
        try:
            self._parser.write(data)
        except FormParserError as error:
            raise NotMultipart(str(error)) from None
        events, self._events = self._events, []
        return events

    def _add_name(self, data: bytes, start: int, end: int) -> None:
        self._name += data[start:end]

    def _add_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def _end_header(self) -> None:
        self._headers[self._name.decode("latin-1").lower()] = self._value
        self._name = self._value = b""

    def _end_headers(self) -> None:
        _, options = parse_options_header(self._headers.get("content-disposition", b""))
        name, file = options.get(b"name"), options.get(b"filename")
        if name is None:
            raise NotMultipart("a part has no name")
        encoding = self._headers.get("content-transfer-encoding", b"").decode("latin-1")
        if encoding.strip().lower() not in _PLAIN:
            raise NotMultipart(f"a part is encoded as {encoding}; send it as it is")
        self._events.append(
            _Head(name.decode(errors="replace"), None if file is None else file.decode(errors="replace"))
        )

    def _end(self) -> None:
        self.ended = True
