"""The samples of runs as Parquet files: a row for each time, and a column for each series, with its name.

The name of a file includes a hash of its content, which reveals damage.
"""

import hashlib
import io
import json
from collections import defaultdict
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from plimsoll.model.errors import Unusable
from plimsoll.model.lazy_imports import pl
from plimsoll.model.log import Log, Values
from plimsoll.model.samples import Samples, join_samples
from plimsoll.model.series import Series, make_host_key
from plimsoll.store.folders import files
from plimsoll.store.line_protocol import convert_to_stored
from plimsoll.store.protocol import FoundSeries, SampleReader

END = ".parquet"
_TIME = "time"
_DIGITS = 32


@dataclass(frozen=True)
class SampleFile:
    """A file of samples, the times (UTC ns) of its first and last row, and its columns by series key."""

    path: Path
    first: int
    last: int
    columns: Mapping[object, Series]

    @classmethod
    def open(cls, path: Path) -> "SampleFile":
        """Read the columns of a file, and the times of its rows. Raise OSError if the file is gone."""
        with _explain_errors(path):
            series = [_parse_series(name) for name in pl.read_parquet_schema(path) if name != _TIME]
            times = pl.read_parquet(path, columns=[_TIME])[_TIME].to_numpy()
        first, last = (int(times.min()), int(times.max())) if len(times) else (0, -1)
        return cls(path, first, last, {column.key: column for column in series})

    def rows(self, keys: Sequence[object], start: int, end: int) -> Iterator[tuple[object, Samples]]:
        """Yield the key and the samples in a range of each series in `keys`; nothing if the run was deleted meanwhile.

        Raise Unusable if the file is damaged.
        """
        content = b""
        with files.translate_errors(self.path), suppress(FileNotFoundError):
            content = self.path.read_bytes() if keys else b""
        if not content:
            return
        if _hash(content) != self.path.stem.partition("-")[2]:
            raise Unusable(f"{self.path}: is damaged: it is not what was written; load the run again")
        names = {_name(self.columns[key]): key for key in keys}
        with _explain_errors(self.path):
            frame = pl.read_parquet(io.BytesIO(content), columns=[_TIME, *names])
            frame = frame.filter(pl.col(_TIME).is_between(start, end))
        times = frame[_TIME].to_numpy()
        for name, key in names.items():
            column = frame[name]
            present = column.is_not_null().to_numpy() if column.null_count() else slice(None)
            yield key, Samples(times[present], column.to_numpy()[present])


class FolderSamples(SampleReader):
    """Reads the samples in several files. See `plimsoll.store.protocol.SampleReader`.

    `list_files` returns the files with rows in a range. If several files have a sample of a series at the same time,
    the first file's sample is used.
    """

    def __init__(self, list_files: Callable[[int, int], Sequence[SampleFile]]) -> None:
        self._list_files = list_files

    def series(self, start: int, end: int, hosts: Sequence[str] = ()) -> FoundSeries:
        """Return the series with a sample in a range, sorted."""
        keys = {make_host_key(host) for host in hosts}
        present: dict[object, Series] = {}
        for file in self._list_files(start, end):
            columns = {
                key: series
                for key, series in file.columns.items()
                if key not in present and (not hosts or make_host_key(series.host) in keys)
            }
            rows = file.rows([*columns], start, end)
            present.update((key, columns[key]) for key, samples in rows if len(samples.times))
        return FoundSeries(sorted(present.values(), key=lambda series: series.key), 0)

    def read(self, series: Sequence[Series], start: int, end: int) -> list[Samples]:
        """Return the samples of each series in a range."""
        keys = [convert_to_stored(series).key for series in series]
        parts: dict[object, list[Samples]] = defaultdict(list)
        for file in self._list_files(start, end) if keys else ():
            present = [key for key in dict.fromkeys(keys) if key in file.columns]
            for key, samples in file.rows(present, start, end):
                parts[key].append(samples)
        return [_join(parts.get(key, [])) for key in keys]


def write(folder: Path, number: int, log: Log) -> None:
    """Write the samples of a log as a numbered file in a folder. Raise OSError if the folder is gone.

    If several columns are the same series, the first value at each time is used.
    """
    alike: dict[object, list[Values]] = defaultdict(list)
    names: dict[object, str] = {}
    for series, column in zip(map(convert_to_stored, log.series), log.columns, strict=True):
        alike[series.key].append(column)
        names.setdefault(series.key, _name(series))
    columns = [
        pl.select(
            pl.coalesce(pl.when(twin.is_finite()).then(twin) for twin in map(pl.Series, twins)).alias(names[key])
        ).to_series()
        for key, twins in alike.items()
    ]
    buffer = io.BytesIO()
    pl.DataFrame([pl.Series(_TIME, log.times), *columns]).write_parquet(buffer)
    content = buffer.getvalue()
    files.write(folder / f"{number:06}-{_hash(content)}{END}", content)


def list_sample_files(folder: Path) -> list[Path]:
    """Return the sample files in a folder, in the order in which they were written."""
    return sorted(folder.glob(f"[0-9]*{END}"))


@contextmanager
def _explain_errors(path: Path) -> Generator[None]:
    try:
        yield
    except (pl.exceptions.PolarsError, ValueError) as error:
        raise Unusable(f"{path}: is damaged: {str(error).partition(chr(10))[0]}; load the run again") from None


def _name(series: Series) -> str:
    return json.dumps([series.host, series.measurement, series.tags, series.field], ensure_ascii=False)


def _parse_series(name: str) -> Series:
    host, measurement, tags, field = json.loads(name)
    return Series(host, measurement, tuple((tag, value) for tag, value in tags), field)


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:_DIGITS]


def _join(parts: Sequence[Samples]) -> Samples:
    if len(parts) == 1 and bool((parts[0].times[1:] > parts[0].times[:-1]).all()):
        return parts[0]
    return join_samples(parts)
