"""Parses logs sent as a form (`multipart/form-data`, RFC 7578), as by `curl -F files=@log.csv`.

The form is parsed as it arrives, and its files are written to disk; only a chunk at a time is in memory.
"""

import re
from collections.abc import AsyncGenerator, Callable, Sequence
from pathlib import Path
from typing import Any

from starlette.datastructures import Headers, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser

from plimsoll.pages.review_jobs.upload_records import create_private_file

FILES = "files"
SETTINGS = "plimsoll.toml"
_MANY = "labels"
_LONGEST_TEXT = 32 << 10
_MOST_TEXTS = 100
_LONGEST_NAME = 200
_SUFFIXES = re.compile(r"(\.(csv|tsv|txt|log|zip|tar|t?gz|bz2|xz|zst|json|lp))+$", re.IGNORECASE)
FormItem = tuple[str, str | UploadFile]


class _StoredFile(UploadFile):
    """A file of a form that is written to disk. It is closed when the parser calls `seek`, as it is then complete."""

    async def seek(self, offset: int) -> None:
        await self.close()


class UploadParser(MultiPartParser):
    """Starlette's form parser; it writes the files of the field `files` to `folder` under the names `0`, `1` and so on.

    `check` is called with the fields so far when the first file begins, and may raise an error to refuse the form.
    `items_of_form` raises MultiPartException if the body is no valid form, or has too many files or too long text;
    OSError if a file cannot be written.
    """

    def __init__(
        self,
        headers: Headers,
        body: AsyncGenerator[bytes],
        folder: Path,
        most_files: int,
        check: Callable[[Sequence[FormItem]], object],
    ) -> None:
        super().__init__(headers, body, max_files=most_files, max_fields=_MOST_TEXTS, max_part_size=_LONGEST_TEXT)
        self._folder = folder
        self._check = check
        self._has_ended = False

    def on_headers_finished(self) -> None:
        """Begin a field or file of the form.

        Raise MultiPartException if a file is not in the field `files`, or if the field `files` is text.
        """
        super().on_headers_finished()
        part = self._current_part
        if (part.field_name == FILES) != (part.file is not None):
            raise MultiPartException(
                f"the field {part.field_name} is a file; send logs in the field {FILES}"
                if part.file
                else "the field files is text, not a file; with curl write -F files=@LOG"
            )
        if part.file:
            part.file.file.close()
            file: Any = create_private_file(self._folder / str(self._current_files - 1))
            self._files_to_close_on_error.append(file)
            part.file = _StoredFile(file, size=0, filename=part.file.filename)
            if self._current_files == 1:
                self._check([*self.items, (FILES, part.file)])

    def on_end(self) -> None:
        """Record that the form is complete."""
        self._has_ended = True

    async def items_of_form(self) -> Sequence[FormItem]:
        """Parse the form; return its fields and files in their order."""
        try:
            await self.parse()
        finally:
            for file in self._files_to_close_on_error:
                file.close()
        if not self._has_ended:
            raise MultiPartException("it breaks off before its end")
        return self.items


def describe(items: Sequence[FormItem]) -> dict[str, Any]:
    """Return the fields and files of a form as arguments of UploadDescription.

    A form without a name gets the name of its first log. Raise MultiPartException if a field is repeated.
    """
    files = [{"name": value.filename or "", "size": value.size} for _, value in items if isinstance(value, UploadFile)]
    names = [str(file["name"]).replace("\\", "/").rpartition("/")[2] for file in files]
    log = next((name for name in names if name != SETTINGS), "")
    description: dict[str, Any] = {"name": _SUFFIXES.sub("", log).strip()[:_LONGEST_NAME]}
    texts = [(name, value) for name, value in items if isinstance(value, str)]
    for name in dict.fromkeys(name for name, _ in texts):
        values = [value for field, value in texts if field == name]
        if name != _MANY and len(values) > 1:
            raise MultiPartException(f"the field {name} is there {len(values)} times")
        description[name] = values if name == _MANY else values[0].strip()
    return {**description, FILES: files}
