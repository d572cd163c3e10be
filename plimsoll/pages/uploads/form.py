"""Logs that are sent as a form, as `curl -F files=@log.csv` sends them. Its files go to disk as they arrive."""

import re
from collections import defaultdict
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from starlette.concurrency import run_in_threadpool

from plimsoll.pages.reviewing.upload_records import new_file
from plimsoll.pages.uploads.multipart import Head, Multipart, NotMultipart

FILES = "files"
SETTINGS = "plimsoll.toml"
_MANY = "labels"
_LONGEST_TEXTS = 32 << 10
_LONGEST_NAME = 200
_SUFFIXES = re.compile(r"(\.(csv|tsv|txt|log|zip|tar|t?gz|bz2|xz|zst|json|lp))+$", re.IGNORECASE)


@dataclass
class Form:
    """What arrived: the texts of each field, and the names and sizes of the files in their order."""

    texts: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    names: list[str] = field(default_factory=list[str])
    sizes: list[int] = field(default_factory=list[int])

    def description(self) -> dict[str, Any]:
        """The upload in the terms of the JSON line. NotMultipart if a field is there twice.

        Without a name it is called after its first log, as the page calls it.
        """
        found: dict[str, Any] = {"name": self._proposed_name()}
        for name, texts in self.texts.items():
            if name == _MANY:
                found[name] = texts
            elif len(texts) > 1:
                raise NotMultipart(f"the field {name} is there {len(texts)} times")
            else:
                found[name] = texts[0].strip()
        files = [{"name": name, "size": size} for name, size in zip(self.names, self.sizes, strict=True)]
        return {**found, FILES: files}

    def _proposed_name(self) -> str:
        names = [name.replace("\\", "/").rpartition("/")[2] for name in self.names]
        log = next((name for name in names if name != SETTINGS), "")
        return _SUFFIXES.sub("", log).strip()[:_LONGEST_NAME]


async def receive(
    content_type: str, body: AsyncGenerator[bytes], folder: Path, most_files: int, check: Callable[[Form], None]
) -> Form:
    """Write the files of a form to a folder, named by their numbers from 0. At most one piece is in memory.

    `check` is called with what is known when the first file begins. NotMultipart if the body is not such a form, or
    has more files or text than is allowed; OSError if a file cannot be written.
    """
    parser, form = Multipart(content_type), Form()
    file: IO[bytes] | None = None
    text = ""
    left = _LONGEST_TEXTS
    try:
        async for chunk in body:
            for event in parser.feed(chunk):
                if isinstance(event, Head):
                    if file:
                        await run_in_threadpool(file.close)
                    file, text = _begun(event, form, folder, most_files), event.field
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
    parser.close()
    return form


def _begun(head: Head, form: Form, folder: Path, most_files: int) -> IO[bytes] | None:
    """The new file of a part; None for a field of text, which is noted in the form."""
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
