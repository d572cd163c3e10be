"""The runs in a folder: one folder for each, which has its name when it is complete."""

import json
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, NamedTuple

from plimsoll.model.errors import Unusable
from plimsoll.model.run import StoredRun
from plimsoll.store import run_document
from plimsoll.store.folders import files
from plimsoll.store.protocol import RunSummary
from plimsoll.store.run_states import State

VERSION = 1
_GONE = ".gone"
_SUMMARY = "run.json"
_MANIFEST = "manifest"
_LENGTH = 33  # of a hidden folder's name
_SAVING_S = 3600.0
_SHOWN_FIRST = (State.COMPLETE, State.LOADING, State.DELETING)


class Held(NamedTuple):
    """A run that is there, its folder, and when it was saved (ns)."""

    run: RunSummary
    folder: Path
    saved: int


class FolderRuns:
    """The runs in a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @property
    def name(self) -> str:
        """The path of the folder."""
        return str(self._folder)

    def save(self, run: StoredRun) -> RunSummary:
        """Save a run in place of one of the same name."""
        summary = RunSummary.new(run)
        folder = self.hidden(summary)
        with files.told(self._folder):
            earlier = [held for held in self.all() if held.run.name == run.name]
            folder.mkdir()
            files.write(folder / _MANIFEST, lambda file: file.write(run_document.dumps(run)))
            _write_summary(Held(summary, folder, (folder / _MANIFEST).stat().st_mtime_ns))
        for held in earlier:
            self.forget(held.run)
        return summary

    def mark(self, run: RunSummary, state: State, *, loaded: int, refused: int) -> RunSummary:
        """Save the next state of a run. A complete one gets its name, which another one must not have."""
        marked = replace(run, state=run.state.to(state), loaded=loaded, refused=refused)
        held = self._find(run)
        if held is None:
            return marked
        with files.told(held.folder):
            hidden = self.hidden(run)
            if held.folder != hidden and state is not State.COMPLETE:
                files.move(held.folder, hidden)
                held = held._replace(folder=hidden)
            _write_summary(held._replace(run=marked))
            if held.folder == hidden and state is State.COMPLETE:
                files.move(hidden, self._folder / files.folder_name(run.name))
        return marked

    def runs(self) -> list[RunSummary]:
        """All runs, latest first."""
        found: dict[str, RunSummary] = {}
        for held in self.all():
            other = found.setdefault(held.run.name, held.run)
            found[held.run.name] = min(held.run, other, key=lambda one: _SHOWN_FIRST.index(one.state))
        return sorted(found.values(), key=lambda one: (-one.start, one.name))

    def run(self, name: str) -> StoredRun | None:
        """The run of a name. Unusable if what is kept of it cannot be read."""
        listed = next((one for one in self.runs() if one.name == name), None)
        held = self._find(listed) if listed else None
        if held is None:
            return None
        path = held.folder / _MANIFEST
        try:
            return run_document.loads(path.read_bytes())
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, TypeError, OSError) as error:
            raise Unusable(f"{path}: cannot be read: {error}; delete the run, and load its logs again") from None

    def forget(self, run: RunSummary) -> None:
        """Remove the folder of a run, with all that is in it."""
        held = self._find(run)
        if held is None:
            return
        with files.told(held.folder):
            gone = self._folder / f".{run.generation}{_GONE}"
            files.move(held.folder, gone)  # nobody reads it or writes to it any more
            files.remove(gone)

    def leftovers(self) -> Iterator[Path]:
        """The folders that are no run, or none any more."""
        for folder in self._folder.glob(".*"):
            is_saved = len(folder.name) != _LENGTH or (folder / _SUMMARY).exists()
            if folder.name.endswith(_GONE) or (not is_saved and time.time() - folder.stat().st_mtime > _SAVING_S):
                yield folder

    def hidden(self, run: RunSummary) -> Path:
        """The folder of a run that is not complete."""
        return self._folder / f".{run.generation}"

    def _find(self, run: RunSummary) -> Held | None:
        return next((held for held in self.all() if held.run.generation == run.generation), None)

    def all(self) -> Iterator[Held]:
        """All runs that are there. One whose folder is hidden is not complete, whatever it says."""
        with files.told(self._folder):
            for folder in sorted(self._folder.iterdir()):
                if folder.name.startswith(".") and folder.name.endswith(_GONE):
                    continue
                with suppress(FileNotFoundError, NotADirectoryError):  # it is none, or was removed meanwhile
                    held = _read_summary(folder)
                    if folder.name.startswith(".") and held.run.complete:
                        held = held._replace(run=replace(held.run, state=State.LOADING))
                    yield held


def _write_summary(held: Held) -> None:
    content = {"version": VERSION, "saved": held.saved, **asdict(held.run)}
    text = json.dumps(content, ensure_ascii=False, indent=1)
    files.write(held.folder / _SUMMARY, lambda file: file.write(text.encode()))


def _read_summary(folder: Path) -> Held:
    content: dict[str, Any] = {**read_json(folder / _SUMMARY)}
    try:
        del content["version"]
        saved, state, hosts = content.pop("saved"), State(content.pop("state")), tuple(content.pop("hosts"))
        return Held(RunSummary(**content, state=state, hosts=hosts), folder, saved)
    except (KeyError, TypeError, ValueError) as error:
        raise _odd(folder / _SUMMARY, error) from None


def read_json(path: Path) -> Mapping[str, Any]:
    """A file of this version or an earlier one. Unusable if it is none."""
    try:
        content = json.loads(path.read_bytes())
        if content["version"] <= VERSION:
            return content
    except (ValueError, KeyError, TypeError) as error:
        raise _odd(path, error) from None
    raise Unusable(f"{path}: was written by a later Plimsoll; update Plimsoll")


def _odd(path: Path, error: Exception) -> Unusable:
    return Unusable(f"{path}: is not what Plimsoll writes ({error}); remove the folder {path.parent}, or mend the file")
