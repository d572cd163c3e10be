"""Claims on runs as files in the folder that computers share. `store.lease` says what claims are for.

Times are those of the computer that has the files, so that no other clock counts: a claim began at the time of its
file, and its holder was last heard of at the time of the file beside it.
"""

import json
import os
from contextlib import suppress
from pathlib import Path
from secrets import token_hex

from plimsoll.model.errors import Unusable
from plimsoll.model.times import SECOND
from plimsoll.store.folders import files
from plimsoll.store.protocol import Claim, Work

_CLAIM = ".json"
_BEAT = ".beat"


class FolderClaims:
    """The claims in a folder. See `plimsoll.store.protocol.Claims`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def claim(self, claim: Claim) -> None:
        """Write a claim."""
        content = {"run": claim.run, "holder": claim.holder, "work": claim.work, "who": claim.who}
        with files.translated_errors(self._folder):
            self._folder.mkdir(exist_ok=True)
            self._file(claim.holder, _BEAT).touch()
            files.write(self._file(claim.holder, _CLAIM), lambda file: file.write(json.dumps(content).encode()))

    def beat(self, claim: Claim) -> None:
        """Save that the holder of a claim is alive. It does not bring back a claim that was withdrawn."""
        with files.translated_errors(self._folder), suppress(FileNotFoundError):
            os.utime(self._file(claim.holder, _BEAT))

    def current(self, life_s: float) -> list[Claim]:
        """Return all claims; those whose holder was not heard of for `life_s` are not alive."""
        claims: list[Claim] = []
        with files.translated_errors(self._folder):
            if self._folder.is_dir():
                since = self._now() - round(life_s * SECOND)
                for path in sorted(self._folder.glob(f"*{_CLAIM}")):
                    with suppress(FileNotFoundError):  # it was withdrawn meanwhile
                        claims.append(_read(path, since))
        return claims

    def withdraw(self, holder: str) -> None:
        """Remove the claim of a holder."""
        with files.translated_errors(self._folder):
            for end in (_CLAIM, _BEAT):
                self._file(holder, end).unlink(missing_ok=True)

    def _now(self) -> int:
        """Return the time by the clock of the computer that has the files; a share then lists the folder anew."""
        probe = self._folder / f".{token_hex(8)}.now"
        try:
            with probe.open("xb") as file:
                return os.fstat(file.fileno()).st_mtime_ns
        finally:
            probe.unlink(missing_ok=True)

    def _file(self, holder: str, end: str) -> Path:
        return self._folder / (files.folder_name(holder) + end)


def _read(path: Path, since: int) -> Claim:
    # Opened, as a share may otherwise give a time that it remembers.
    with path.open("rb") as file, path.with_suffix(_BEAT).open("rb") as beat:
        began, heard = os.fstat(file.fileno()).st_mtime_ns, os.fstat(beat.fileno()).st_mtime_ns
        try:
            content = json.load(file)
            run, holder, who = content["run"], content["holder"], content["who"]
            return Claim(run, holder, Work(content["work"]), who, began, heard, heard > since)
        except (ValueError, KeyError, TypeError) as error:
            raise Unusable(f"{path}: is no claim: {error}; delete it") from None
