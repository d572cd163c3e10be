"""A task of the worker process: a run to review, after its logs were uploaded or as it is in the store."""

from dataclasses import dataclass
from pathlib import Path

from rules.load import Catalogue


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
class Task:
    """What the worker does. `run` is in the store, unless it is an upload. `review` is the id to keep the review by.

    `rules` is a hash of the catalogue, and `data` the data folder of the server.
    """

    data: Path
    run: str
    review: str
    catalogue: Catalogue
    rules: str
    upload: Upload | None = None
