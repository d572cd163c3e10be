"""Runs as folders of Parquet files, in a folder that several computers may share.

    FOLDER/plimsoll-runs.json      marks a folder of runs, and has its version
    FOLDER/nightly-42/run.json     the run: name, hosts, labels, state
                      manifest     what was loaded: files, times, series, remarks, settings
                      000000-....parquet
    FOLDER/.GENERATION/            a run that is being loaded, or deleted
    FOLDER/.claims/                claims of commands that load or delete a run
    FOLDER/accepted.json           the changes that were accepted

A folder has the run's name only when the run is complete. A run is deleted with all that is in its folder.
"""

import json
import os
import time
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from secrets import token_hex
from typing import Any, NamedTuple

from plimsoll.model.errors import Unusable
from plimsoll.model.log import Log
from plimsoll.model.points import Points
from plimsoll.model.run import AcceptedChange, StoredRun
from plimsoll.model.times import SECOND
from plimsoll.store import run_document
from plimsoll.store.folders import files, samples
from plimsoll.store.folders.samples import FolderSamples, SampleFile
from plimsoll.store.protocol import Claim, RunSummary, StoreState, Work, WriteResult, sort_latest_first
from plimsoll.store.store import Store

_CLAIM = ".json"
_BEAT = ".beat"
_ACCEPTED = "accepted.json"


class FolderClaims:
    """The claims in a folder. See `plimsoll.store.protocol.Claims`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def claim(self, claim: Claim) -> None:
        """Write a claim, with the time by the file server's clock."""
        content = {"run": claim.run, "holder": claim.holder, "work": claim.work, "who": claim.who}
        with files.translate_errors(self._folder):
            self._folder.mkdir(exist_ok=True)
            self._make_file_path(claim.holder, _BEAT).touch()
            files.write(self._make_file_path(claim.holder, _CLAIM), json.dumps(content).encode())

    def beat(self, claim: Claim) -> None:
        """Save a heartbeat of a claim; a withdrawn claim is not restored."""
        with files.translate_errors(self._folder), suppress(FileNotFoundError):
            os.utime(self._make_file_path(claim.holder, _BEAT))

    def current(self, life_s: float) -> list[Claim]:
        """Return all claims; `alive` is False for claims without a heartbeat in the last `life_s` seconds."""
        claims: list[Claim] = []
        with files.translate_errors(self._folder):
            if self._folder.is_dir():
                since = self._read_clock() - round(life_s * SECOND)
                for path in sorted(self._folder.glob(f"*{_CLAIM}")):
                    with suppress(FileNotFoundError):  # the claim was withdrawn meanwhile
                        claims.append(_read(path, since))
        return claims

    def withdraw(self, holder: str) -> None:
        """Remove the claim of a holder."""
        with files.translate_errors(self._folder):
            for end in (_CLAIM, _BEAT):
                self._make_file_path(holder, end).unlink(missing_ok=True)

    def _read_clock(self) -> int:
        """Return the time by the file server's clock. This also refreshes a network share's listing."""
        probe = self._folder / f".{token_hex(8)}.now"
        try:
            with probe.open("xb") as file:
                return os.fstat(file.fileno()).st_mtime_ns
        finally:
            probe.unlink(missing_ok=True)

    def _make_file_path(self, holder: str, end: str) -> Path:
        return self._folder / (files.make_folder_name(holder) + end)


MARK = "plimsoll-runs.json"
PREFIX = "runs:"
_VERSION = 1
_GONE = ".gone"
_SUMMARY = "run.json"
_MANIFEST = "manifest"
_LENGTH = 33  # of a hidden folder's name
_SAVING_S = 3600.0


def find_folder_of_runs(store: str) -> Path | None:
    """Return the folder of a store `runs:FOLDER`, or a path that is a folder of runs; otherwise None."""
    if store.startswith(PREFIX):
        return Path(store.removeprefix(PREFIX))
    return Path(store) if (Path(store) / MARK).is_file() else None


def make_store_of_runs(runs: "RunFolders") -> Store:
    """Return a store that has these runs, and no live samples."""
    return Store(_NoLive(runs.name), runs, name=runs.name)


class _NoLive(FolderSamples):
    """The live samples of a store that has only runs: always empty."""

    def __init__(self, name: str) -> None:
        super().__init__(lambda start, end: ())
        self.name = name

    def close(self) -> None:
        """Do nothing, as nothing is open."""

    def write_points(self, points: Points) -> WriteResult:
        """Raise Unusable, as a folder of runs has no live samples."""
        raise Unusable(f"{self.name}: is a folder of runs, and keeps no live samples; name another store for them")


class _RunFolder(NamedTuple):
    """A run with its folder, and the time at which it was saved (ns)."""

    run: RunSummary
    folder: Path
    saved: int


class RunFolders:
    """The runs in a folder. See `plimsoll.store.protocol.RunStore`."""

    settle_s = 0.0

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.claims = FolderClaims(folder / ".claims")
        self._summaries: dict[Path, tuple[tuple[int, int], _RunFolder]] = {}
        self._files: dict[Path, SampleFile] = {}

    @classmethod
    def open(cls, folder: Path, *, make: bool = False, mode: int = 0o777) -> "RunFolders":
        """Open a folder of runs; with `make`, create the folder if it is missing or empty.

        Raise Unusable if the folder is not one of runs. Hidden files are ignored: another process may be creating the
        folder, and network shares have hidden files.
        """
        mark = folder / MARK
        with files.translate_errors(folder):
            if make and not mark.exists():
                folder.mkdir(mode, parents=True, exist_ok=True)
                is_used = any(not path.name.startswith(".") for path in folder.iterdir())
                if is_used and not mark.exists():
                    raise Unusable(f"{folder}: is no folder of runs, and not empty; name a new one")
                files.write(mark, json.dumps({"version": _VERSION}).encode())
            if not mark.exists():
                raise Unusable(f"{folder}: is no folder of runs; plimsoll ingest makes one")
            _read_json(mark)
        return cls(folder)

    @property
    def name(self) -> str:
        """The path of the folder."""
        return str(self._folder)

    def close(self) -> None:
        """Do nothing, as no file stays open."""

    def oldest(self) -> int | None:
        """Return None, as runs are kept forever."""
        return None

    def save(self, run: StoredRun, generation: str = "") -> RunSummary:
        """Save a run in place of a run of the same name; a copy from another store keeps its `generation`."""
        summary = RunSummary.new(run, generation)
        folder = self._find_hidden_folder(summary)
        with files.translate_errors(self._folder):
            for old in self._folder.glob(
                ".*"
            ):  # whose removal was interrupted, or whose run was not saved within an hour
                with suppress(FileNotFoundError):
                    is_saved = len(old.name) != _LENGTH or (old / _SUMMARY).exists()
                    if old.name.endswith(_GONE) or (not is_saved and time.time() - old.stat().st_mtime > _SAVING_S):
                        files.remove(old)
            earlier = [kept.run for kept in self._list() if kept.run.name == run.name]
            folder.mkdir()
            files.write(folder / _MANIFEST, run_document.dump_run(run))
            _write_summary(_RunFolder(summary, folder, (folder / _MANIFEST).stat().st_mtime_ns))
        for other in earlier:
            self.forget(other)
        return summary

    def write(self, run: RunSummary, batches: Iterable[Log]) -> Generator[WriteResult]:
        """Write each batch as a file in the run's folder; the run must be in the state LOADING."""
        folder = self._find_hidden_folder(run)
        with files.translate_errors(folder):
            for number, batch in enumerate(batches, len(samples.list_sample_files(folder))):
                samples.write(folder, number, batch)
                yield WriteResult(batch.present)

    def mark(self, run: RunSummary, state: StoreState, *, loaded: int, refused: int) -> RunSummary:
        """Save the next state of a run. If complete, rename its hidden folder to the run's name, which must be free."""
        marked = replace(run, state=run.state.to(state), loaded=loaded, refused=refused)
        kept = self._find(run)
        if kept is None:
            return marked
        with files.translate_errors(kept.folder):
            hidden = self._find_hidden_folder(run)
            if kept.folder != hidden and state is not StoreState.COMPLETE:
                files.move(kept.folder, hidden)
                kept = kept._replace(folder=hidden)
            _write_summary(kept._replace(run=marked))
            if kept.folder == hidden and state is StoreState.COMPLETE:
                files.move(hidden, self._folder / files.make_folder_name(run.name))
        return marked

    def accepted(self) -> list[AcceptedChange]:
        """Return the changes that were accepted. Raise Unusable if their file cannot be read."""
        path = self._folder / _ACCEPTED
        with files.translate_errors(self._folder):
            if not path.exists():
                return []
            try:
                return [AcceptedChange(**change) for change in json.loads(path.read_bytes())]
            except (ValueError, TypeError) as error:
                raise Unusable(f"{path}: cannot be read ({error}); correct it, or delete it") from None

    def accept(self, change: AcceptedChange) -> None:
        """Save an accepted change; replace an earlier accepted change of the same run and signal."""
        other = [old for old in self.accepted() if (old.run, old.signal) != (change.run, change.signal)]
        content = json.dumps([asdict(accepted) for accepted in (*other, change)], ensure_ascii=False, indent=2)
        with files.translate_errors(self._folder):
            files.write(self._folder / _ACCEPTED, content.encode())

    def summaries(self) -> list[RunSummary]:
        """Return all runs, latest first."""
        return sort_latest_first(kept.run for kept in self._list())

    def get(self, name: str) -> StoredRun | None:
        """Return the run with this name, or None. Raise Unusable if its manifest cannot be read."""
        run = next((run for run in self.summaries() if run.name == name), None)
        kept = self._find(run) if run else None
        if kept is None:
            return None
        path = kept.folder / _MANIFEST
        try:
            return run_document.load_run(path.read_bytes())
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, TypeError, OSError) as error:
            raise Unusable(f"{path}: cannot be read: {error}; delete the run, and load its logs again") from None

    def samples(self, run: RunSummary | None = None) -> FolderSamples:
        """Return a reader of the samples of a run, or of all complete runs (None)."""
        return FolderSamples(lambda start, end: self._list_files(run, start, end))

    def forget(self, run: RunSummary) -> None:
        """Remove the folder of a run with all its files."""
        kept = self._find(run)
        if kept is None:
            return
        with files.translate_errors(kept.folder):
            gone = self._folder / f".{run.generation}{_GONE}"
            files.move(kept.folder, gone)  # no process reads or writes it any longer
            files.remove(gone)

    def copy(self, to: Path) -> None:
        """Copy the complete runs to a new folder of runs. Raise OSError if that fails."""
        self.open(to, make=True, mode=0o700)
        for kept in self._list():
            if kept.run.complete:
                files.copy(kept.folder, to / kept.folder.name)

    def _find_hidden_folder(self, run: RunSummary) -> Path:
        """Return the hidden folder of a run that is not complete."""
        return self._folder / f".{run.generation}"

    def _find(self, run: RunSummary) -> _RunFolder | None:
        return next((kept for kept in self._list() if kept.run.generation == run.generation), None)

    def _list(self) -> Iterator[_RunFolder]:
        """Yield all runs; a run in a hidden folder counts as incomplete, whatever state it has saved."""
        with files.translate_errors(self._folder):
            for folder in sorted(self._folder.iterdir()):
                if folder.name.startswith(".") and folder.name.endswith(_GONE):
                    continue
                with suppress(FileNotFoundError, NotADirectoryError):  # not a run, or removed meanwhile
                    kept = self._read_summary(folder)
                    if folder.name.startswith(".") and kept.run.complete:
                        kept = kept._replace(run=replace(kept.run, state=StoreState.LOADING))
                    yield kept

    def _read_summary(self, folder: Path) -> _RunFolder:
        """Return the run in a folder; its file is read again only if it has changed."""
        path = folder / _SUMMARY
        status = path.stat()
        stamp = (status.st_mtime_ns, status.st_ino)
        cached = self._summaries.get(path)
        if cached is None or cached[0] != stamp:
            content: dict[str, Any] = {**_read_json(path)}
            try:
                del content["version"]
                saved, state, hosts = (
                    content.pop("saved"),
                    StoreState(content.pop("state")),
                    tuple(content.pop("hosts")),
                )
                run = RunSummary(**content, state=state, hosts=hosts)
            except (KeyError, TypeError, ValueError) as error:
                raise _explain_unreadable(path, error) from None
            cached = self._summaries[path] = (stamp, _RunFolder(run, folder, saved))
        return cached[1]

    def _list_files(self, run: RunSummary | None, start: int, end: int) -> list[SampleFile]:
        """Return the sample files with rows in a range, the latest written first."""
        if run:
            chosen = [kept for kept in self._list() if kept.run.generation == run.generation]
        else:
            complete = (kept for kept in self._list() if kept.run.complete)
            chosen = [kept for kept in complete if kept.run.start <= end and start <= kept.run.end]
        ordered = sorted(chosen, key=lambda kept: -kept.saved)
        paths = [path for kept in ordered for path in reversed(samples.list_sample_files(kept.folder))]
        opened = filter(None, map(self._open, paths))
        return [file for file in opened if file.first <= end and start <= file.last]

    def _open(self, path: Path) -> SampleFile | None:
        if path not in self._files:
            with files.translate_errors(path):
                try:
                    self._files[path] = SampleFile.open(path)
                except FileNotFoundError:
                    return None  # the run was deleted meanwhile
        return self._files[path]


def _write_summary(kept: _RunFolder) -> None:
    content = {"version": _VERSION, "saved": kept.saved, **asdict(kept.run)}
    text = json.dumps(content, ensure_ascii=False, indent=1)
    files.write(kept.folder / _SUMMARY, text.encode())


def _read_json(path: Path) -> Mapping[str, Any]:
    """Return the content of a JSON file that this or an earlier version wrote. Raise Unusable for any other file."""
    try:
        content = json.loads(path.read_bytes())
        if content["version"] <= _VERSION:
            return content
    except (ValueError, KeyError, TypeError) as error:
        raise _explain_unreadable(path, error) from None
    raise Unusable(f"{path}: was written by a later Plimsoll; update Plimsoll")


def _explain_unreadable(path: Path, error: Exception) -> Unusable:
    return Unusable(f"{path}: is not what Plimsoll writes ({error}); remove the folder {path.parent}, or mend the file")


def _read(path: Path, since: int) -> Claim:
    # Opened, as a share may otherwise return a cached time.
    with path.open("rb") as file, path.with_suffix(_BEAT).open("rb") as beat:
        began, heard = os.fstat(file.fileno()).st_mtime_ns, os.fstat(beat.fileno()).st_mtime_ns
        try:
            content = json.load(file)
            run, holder, who = content["run"], content["holder"], content["who"]
            return Claim(run, holder, Work(content["work"]), who, began, heard, heard > since)
        except (ValueError, KeyError, TypeError) as error:
            raise Unusable(f"{path}: is no claim: {error}; delete it") from None
