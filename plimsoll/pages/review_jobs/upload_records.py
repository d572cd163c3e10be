"""The uploads, in the folder `uploads` of the data folder: the files of each, and a record of its result."""

import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO
from uuid import uuid4

from pydantic import TypeAdapter, ValidationError

from plimsoll.model.atomic import write_atomically
from plimsoll.pages.review_jobs.jobs import Job, Stage

_FOLDER = "uploads"
_MOST_RECORDS = 100
_ENDED_EARLY = "plimsoll up ended before it was done, and what was uploaded is removed. Upload it again."


@dataclass(frozen=True)
class Record:
    """An upload: when it arrived (UTC ns), the names and total bytes of its files, and its job, which has its id."""

    at: int
    files: tuple[str, ...]
    size: int
    job: Job


_RECORDS = TypeAdapter(Record)


class UploadRecords:
    """Stores a JSON file for each upload and, until the upload is processed, the folder of its files."""

    def __init__(self, data: Path) -> None:
        self._folder = data / _FOLDER
        self._folder.mkdir(mode=0o700, exist_ok=True)

    def new_folder(self) -> Path:
        """Create a folder for the files of an upload; the folder's name is the upload's id."""
        folder = self._folder / uuid4().hex
        folder.mkdir(mode=0o700)
        return folder

    def free(self) -> int:
        """Return the free space on the data folder's disk in bytes."""
        return shutil.disk_usage(self._folder).free

    def save(self, record: Record) -> None:
        """Save the record of an upload, and delete the oldest records beyond a hundred."""
        with write_atomically(self._folder / f"{record.job.id}.json") as partial:
            partial.write_bytes(_RECORDS.dump_json(record))
        for old in self.all()[_MOST_RECORDS:]:
            self.forget(old.job.id)

    def find(self, id_: str) -> Record | None:
        """Return the record of an upload; None if it is missing or cannot be read."""
        return _read(self._folder / f"{id_}.json") if id_.isalnum() else None

    def all(self) -> list[Record]:
        """Return the records of all uploads, the latest first."""
        records = map(_read, self._folder.glob("*.json"))
        return sorted(filter(None, records), key=lambda record: -record.at)

    def forget(self, id_: str) -> None:
        """Remove the record of an upload."""
        (self._folder / f"{id_}.json").unlink(missing_ok=True)

    def remove_files(self, id_: str) -> None:
        """Remove the files of an upload."""
        shutil.rmtree(self._folder / id_, ignore_errors=True)

    def clear_leftovers(self) -> None:
        """Remove the files of uploads that an earlier process did not finish, and mark these uploads as failed."""
        for folder in [path for path in self._folder.iterdir() if path.is_dir()]:
            shutil.rmtree(folder, ignore_errors=True)
        for record in self.all():
            if not record.job.has_ended:
                record.job.stage, record.job.error = Stage.FAILED, _ENDED_EARLY
                self.save(record)


def create_private_file(path: Path) -> BinaryIO:
    """Create a file that only its owner can read, and return it open for writing."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    return os.fdopen(os.open(path, flags, 0o600), "wb")


def _read(path: Path) -> Record | None:
    try:
        return _RECORDS.validate_json(path.read_bytes())
    except (OSError, ValidationError):
        return None
