"""The tasks of the worker process: to review a run, uploaded or in the store, and to compare stored runs."""

from dataclasses import dataclass
from pathlib import Path

from plimsoll.rules.load import Catalogue


@dataclass(frozen=True)
class Upload:
    """Logs that were uploaded: a folder that has them as `0`, `1` and so on, and what people said of them.

    `names` are what the sender called the files: they are shown, and never used as paths.
    """

    folder: Path
    names: tuple[str, ...]
    run: str
    labels: tuple[tuple[str, str], ...] = ()
    zone: str = ""
    merge: bool = False

    def path(self, number: int) -> Path:
        """Where a file is."""
        return self.folder / str(number)


@dataclass(frozen=True)
class How:
    """How reviews and comparisons are made: `rules` is a hash of the catalogue, `data` the server's data folder."""

    data: Path
    catalogue: Catalogue
    rules: str


@dataclass(frozen=True)
class ToReview:
    """A run to review. `run` is in the store, unless it is an upload. `review` is the id to keep the review by."""

    how: How
    run: str
    review: str
    upload: Upload | None = None


@dataclass(frozen=True)
class ToCompare:
    """Stored runs to compare with the first, and the id to keep the comparison by."""

    how: How
    runs: tuple[str, ...]
    comparison: str


Task = ToReview | ToCompare
