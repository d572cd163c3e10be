"""The samples of a run as Parquet files: a row for each time, and a column for each series, named by it.

The name of a file has a hash of its content, so that what is read is what was written.
"""

import hashlib
import io
import json
from collections import defaultdict
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from plimsoll.model.errors import Unusable
from plimsoll.model.log import Log
from plimsoll.model.samples import Samples
from plimsoll.model.series import Series
from plimsoll.store.folders import files
from plimsoll.store.line_protocol import as_stored

END = ".parquet"
_TIME = "time"
_DIGITS = 32


@dataclass(frozen=True)
class File:
    """A file, the times (UTC ns) of its first and last row, and its columns by the keys of their series."""

    path: Path
    first: int
    last: int
    columns: Mapping[object, Series]

    @classmethod
    def of(cls, path: Path) -> "File":
        """A file that is there. OSError if it is not."""
        with _readable(path):
            series = [_series(name) for name in pl.read_parquet_schema(path) if name != _TIME]
            times = pl.read_parquet(path, columns=[_TIME])[_TIME].to_numpy()
        first, last = (int(times.min()), int(times.max())) if len(times) else (0, -1)
        return cls(path, first, last, {one.key: one for one in series})

    def rows(self, keys: Sequence[object], start: int, end: int) -> Iterator[tuple[object, Samples]]:
        """The samples of these series in a range. Unusable if the file is damaged, OSError if it is gone."""
        content = self.path.read_bytes()
        if _hash(content) != self.path.stem.partition("-")[2]:
            raise Unusable(f"{self.path}: is damaged: it is not what was written; load the run again")
        names = {_name(self.columns[key]): key for key in keys}
        with _readable(self.path):
            frame = pl.read_parquet(io.BytesIO(content), columns=[_TIME, *names])
            frame = frame.filter(pl.col(_TIME).is_between(start, end))
        times = frame[_TIME].to_numpy()
        for name, key in names.items():
            column = frame[name]
            held = column.is_not_null().to_numpy() if column.null_count() else slice(None)
            yield key, Samples(times[held], column.to_numpy()[held])


def write(folder: Path, number: int, log: Log) -> None:
    """Write the samples of a log as a file of a folder. OSError if the folder is gone.

    Of columns of the same series, the first value at a time counts.
    """
    alike: dict[object, list[pl.Series]] = defaultdict(list)
    names: dict[object, str] = {}
    for series, column in zip(map(as_stored, log.series), log.columns, strict=True):
        alike[series.key].append(column)
        names.setdefault(series.key, _name(series))
    held = [
        pl.select(pl.coalesce(pl.when(one.is_finite()).then(one) for one in columns).alias(names[key])).to_series()
        for key, columns in alike.items()
    ]
    content = io.BytesIO()
    pl.DataFrame([pl.Series(_TIME, log.times), *held]).write_parquet(content)
    written = content.getvalue()
    files.write(folder / f"{number:06}-{_hash(written)}{END}", lambda file: file.write(written))


def files_of(folder: Path) -> list[Path]:
    """The files of a folder in the order in which they were written."""
    return sorted(folder.glob(f"[0-9]*{END}"))


@contextmanager
def _readable(path: Path) -> Generator[None]:
    try:
        yield
    except (pl.exceptions.PolarsError, ValueError) as error:
        raise Unusable(f"{path}: is damaged: {str(error).partition(chr(10))[0]}; load the run again") from None


def _name(series: Series) -> str:
    return json.dumps([series.host, series.measurement, series.tags, series.field], ensure_ascii=False)


def _series(name: str) -> Series:
    host, measurement, tags, field = json.loads(name)
    return Series(host, measurement, tuple((tag, value) for tag, value in tags), field)


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:_DIGITS]
