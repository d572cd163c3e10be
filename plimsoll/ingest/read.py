"""Finds the logs in the named files and folders, and reads them; the content, not the name, decides the format."""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

from plimsoll.ingest.files.open import STDIN, LogContent, open_logs
from plimsoll.ingest.files.recognise import (
    HEAD,
    explain_refusal,
    find_suffix,
    is_called_a_log,
    is_measured_json,
    quote_opening,
)
from plimsoll.ingest.files.streams import Data
from plimsoll.ingest.formats.registry import BINARY, FORMAT_OF_LOG, FORMATS, Format
from plimsoll.ingest.reading import LogSet, ReadOptions
from plimsoll.ingest.recordings import list_remarks
from plimsoll.ingest.shared.same_time import MOST_LEFT_OUT, list_remarks_on_same_times
from plimsoll.ingest.shared.text import Text
from plimsoll.ingest.unnamed_host import name_hosts
from plimsoll.model.errors import Empty, NoLog, Unusable, escape
from plimsoll.model.log import Log, Values
from plimsoll.model.remark import Kind, Remark, Remarks, format_count
from plimsoll.model.series import LOAD_DRIVER
from plimsoll.model.value_text import format_percent

_NOT_LOGS = {".html", ".json", ".toml", ".md", ".yaml", ".yml"}
_MOST_NAMED = 3
_BLOCK = 1 << 20  # bytes that are counted at once
_PAGE = 4096  # bytes: less than a page of zeros is no lost part


class LogFile(NamedTuple):
    """A file to read. A file that was found in a folder (`in_folder`) need not be a log.

    `name` replaces the path in messages.
    """

    path: Path
    in_folder: bool = False
    name: str | None = None

    @property
    def shown(self) -> Path:
        """The path for messages."""
        return Path(self.name) if self.name is not None else self.path


class NothingRead(Unusable):
    """The error that no file contains a readable log. `remarks` give the reason for each file."""

    def __init__(self, remarks: Sequence[Remark]) -> None:
        super().__init__("no log in it could be read")
        self.remarks = tuple(remarks)


_CUT = "the file ends within a character of UTF-16: read up to there"


def read_logs(
    path: Path, options: ReadOptions | None = None, name: str | None = None
) -> tuple[list[Log], list[Remark]]:
    """Return the recordings in a file or archive, and remarks on unreadable files of the archive.

    `-` is standard input; `name` replaces the path in messages. Raise Unusable, with advice, if nothing can be read,
    and NoLog if no file is a recording.
    """
    logs: list[Log] = []
    errors: list[Unusable] = []
    options = options or ReadOptions()
    with open_logs(path, name=name, progress=options.progress) as contents:
        for content in contents:
            try:
                logs.append(_read(content, options))
            except Unusable as error:
                if not content.member:
                    raise
                errors.append(error)
    if not logs:
        first, *unusables = sorted(errors, key=lambda error: isinstance(error, NoLog))
        text = f" ({format_count(len(unusables), 'other file')} cannot be read either)" if unusables else ""
        raise type(first)(f"{first}{text}")
    return logs, [make_refusal_remark(error, path if name is None else Path(name), logs) for error in errors]


def make_refusal_remark(error: Unusable, path: Path, logs: Sequence[Log]) -> Remark:
    """Return the remark on an unreadable file: UNREAD if it is a recording, else SKIPPED.

    An empty file counts as a recording if it has the suffix of one of `logs`.
    """
    match = re.match(rf"(?P<file>{re.escape(escape(str(path)))}.*?)(:(?P<line>\d+))?: (?P<text>.*)", str(error))
    file, line, text = (match["file"], match["line"], match["text"]) if match else (None, None, str(error))
    alike = isinstance(error, Empty) and find_suffix(file or str(path)) in {find_suffix(str(log.path)) for log in logs}
    kind = Kind.SKIPPED if isinstance(error, NoLog) and not alike else Kind.UNREAD
    return Remark(kind, text, file, int(line) if line else None)


def read_log(path: Path, options: ReadOptions | None = None) -> Log:
    """Return the log in a file. Raise Unusable as `read_logs` does, or if the file contains several logs."""
    logs, _ = read_logs(path, options)
    if len(logs) > 1:
        raise Unusable(f"{path}: holds {len(logs)} logs where one is wanted; unpack it and name one")
    return logs[0]


def _read(content: LogContent, options: ReadOptions) -> Log:
    """Return the log in a file's content, read by the first format that recognises it. Raise Unusable if none does."""
    if content.refused:
        raise content.refused
    if content.member:
        options = replace(options, columns=None)
    text = Text(Path(content.name), content.data, file=content.path)
    is_binary = any(format_.sniff(text) for format_ in BINARY)
    if not is_binary:
        text = Text.of(Path(content.name), content.data, options.encoding, content.path)
    if not text.header.strip():
        kind = Unusable if is_called_a_log(content.name) else Empty
        raise kind(f"{content.name}: is empty; there is nothing to read")
    remarks = Remarks(str(text.path))
    if text.is_cut:
        remarks.add(Kind.SKIPPED, _CUT)
    zeros = 0 if is_binary else _count_zeros(text.data)
    if zeros > max(MOST_LEFT_OUT * len(text.data), _PAGE):
        lost = f"{zeros:,} zero bytes stand where {format_percent(zeros / len(text.data))} of the file was"
        remarks.add(Kind.CUT, f"{lost}: copy the log again; what was recorded there is lost")
    log = _format(text, options.format).read(text, options)
    remarks_on_log = Remarks(str(text.path), [*remarks, *log.remarks, *list_remarks_on_same_times(log)])
    if not len(log.times):
        remarks_on_log.add(Kind.UNREAD, "the log holds no samples")
    elif log.is_empty:
        remarks_on_log.add(
            Kind.UNREAD,
            f"there is no value in any of {format_count(len(log.times), 'row')}; were its counters recorded?",
        )
    return replace(log, file=content.path, sha256=content.sha256, remarks=tuple(remarks_on_log))


def _count_zeros(data: Data) -> int:
    """Return the number of zero bytes in a text, as a disk or a copy that failed leaves them in place of its lines."""
    first = data.find(b"\0")
    return sum(data[at : at + _BLOCK].count(0) for at in range(first, len(data), _BLOCK)) if first >= 0 else 0


def _format(text: Text, name: str | None) -> Format:
    """Return the format named by the caller; without a name, the first that recognises the log."""
    match = next((entry for entry in FORMATS if entry.sniff(text)), None)
    if name is not None:
        format_name = FORMAT_OF_LOG.get(name.casefold(), name)
        wanted_format = next((entry for entry in FORMATS if entry.NAME.casefold() == format_name.casefold()), None)
        if wanted_format is None:
            names = ", ".join(entry.NAME for entry in FORMATS)
            raise Unusable(f'format "{name}" is not known; choose from {names}')
        if match is not wanted_format:
            why = f"but {match.NAME}" if match else f"as it begins with {quote_opening(text)}"
            kind = Unusable if match else type(explain_refusal(text))
            raise kind(f"{text.path}: is not {wanted_format.NAME}, {why}")
    if match is None:
        raise explain_refusal(text)
    return match


def read_files(
    files: Iterable[LogFile],
    options: ReadOptions,
    *,
    whole: bool = False,
    partly: bool = False,
    progress: Callable[[int], None] = lambda _: None,
) -> LogSet:
    """Return the logs in files. `progress` is called with the number of files done; `whole` is as in LogSet.

    With `partly`, columns that no rule judges may be read only when they are needed; the files must remain until then.

    Raise Unusable if a named file cannot be read, NothingRead if no file can be read.
    """
    logs: list[Log] = []
    empty: list[Log] = []
    remarks: list[Remark] = []
    refused: list[tuple[Unusable, LogFile]] = []
    for number, file in enumerate(files, 1):
        try:
            again = (
                partial(_read_columns, file, replace(options, progress=None))
                if partly and file.path.is_file()
                else None
            )
            read_here, remarks_here = read_logs(file.path, replace(options, columns=again), file.name)
        except Unusable as error:
            if not file.in_folder:
                raise
            refused.append((error, file))
        else:
            logs += read_here
            remarks += remarks_here
            if not file.in_folder and len(read_here) == 1:
                empty += [log for log in read_here if not len(log.times)]
        progress(number)
    remarks += [make_refusal_remark(error, file.shown, logs) for error, file in refused]
    if not logs:
        raise NothingRead(remarks)
    if any(series.measurement == LOAD_DRIVER[0] for log in logs for series in log.series[:1]):
        from plimsoll.ingest.formats.load_results.injectors import join_injectors  # noqa: PLC0415  polars is slow to import

        logs = join_injectors(logs)
    logs, of_hosts = name_hosts(logs)
    return LogSet(logs, [*remarks, *of_hosts, *list_remarks(logs)], whole=whole, empty=tuple(empty))


def _read_columns(file: LogFile, options: ReadOptions) -> Sequence[Values]:
    return read_logs(file.path, options, file.name)[0][0].columns


def find_logs(named: Sequence[Path]) -> Iterator[LogFile]:
    """Yield the named files, and the files in the named folders, without duplicates.

    Raise Unusable if a path does not exist, or if standard input is named twice.
    """
    if named.count(STDIN) > 1:
        raise Unusable(f"{STDIN}: standard input is named twice; it can be read once")
    targets: set[str] = set()
    for path in named:
        if path == STDIN:
            yield LogFile(path)
            continue
        try:
            if not path.exists():
                raise Unusable(f"{path}: does not exist; name a log or a folder of logs")
            in_folder = path.is_dir()
            entries = sorted(path.iterdir()) if in_folder else [path]
        except OSError as error:
            raise Unusable(f"{path}: cannot be read: {error.strerror or error}") from None
        for entry in entries:
            if not (in_folder and _is_ignored(entry)) and (target := os.path.realpath(entry)) not in targets:
                targets.add(target)
                yield LogFile(entry, in_folder)


def _is_ignored(path: Path) -> bool:
    """Return whether a file in a folder is skipped without a remark: hidden, or with a suffix that no log has.

    A broken link with the name of a log is not ignored, nor is JSON written by sadf.
    """
    if path.name.startswith("."):
        return True
    if not path.is_file():
        return not (path.is_symlink() and not path.exists() and is_called_a_log(path.name))
    if path.suffix.lower() != ".json":
        return path.suffix.lower() in _NOT_LOGS
    try:
        with path.open("rb") as file:
            return not is_measured_json(file.read(HEAD))
    except OSError:
        return True


def describe_skipped_folders(named: Sequence[Path]) -> str | None:
    """Return a sentence on the subfolders of the named folders, which are not searched; None if there are none."""
    folders = {path.resolve(): path for path in named if path != STDIN and path.is_dir()}
    inside = [
        str(path)
        for folder in folders.values()
        for path in sorted(folder.iterdir())
        if path.is_dir() and not path.name.startswith(".") and path.resolve() not in folders
    ]
    if not inside:
        return None
    value = len(inside) - _MOST_NAMED
    names = ", ".join(inside[:_MOST_NAMED]) + (f" and {value:,} more" if value > 0 else "")
    return (
        f"{format_count(len(inside), 'folder')} inside not looked into ({names}): name those whose logs are meant, too"
    )
