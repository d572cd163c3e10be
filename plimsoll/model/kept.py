"""Caches results that take long to compute, in files in the user's cache folder."""

import hashlib
import os
import pickle
import stat
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from secrets import token_hex
from typing import TypeVar

_MOST = 8  # results of one name: a program in two versions, each with and without packs of its own
_SUFFIX = ".kept"
_WRITABLE_BY_GROUP_OR_ALL = stat.S_IWGRP | stat.S_IWOTH
Result = TypeVar("Result")


def cache_result(folder: Path, name: str, key: bytes, make: Callable[[], Result]) -> Result:
    """Return the cached result of this name and key. If there is none, call `make` and cache its result."""
    with suppress(Exception):  # a pickle of another version may raise anything
        if (content := load_cached(folder, name, key)) is not None:
            return pickle.loads(content)
    result = make()
    with suppress(pickle.PicklingError):
        keep(folder, name, key, pickle.dumps(result, 5))
    return result


def load_cached(folder: Path, name: str, key: bytes) -> bytes | None:
    """Return the cached content of this name and key; None if there is none, or if the file cannot be trusted.

    A file is trusted only if the user owns the file and its folder, and nobody else can write to them, as its content
    (a pickle or a compiled template) can run any code.
    """
    if _is_unsafe(folder):
        return None
    with suppress(OSError):
        content = _read(_make_path(folder, name, key))
        if content[:32] == hashlib.sha256(content[32:]).digest():
            return content[32:]
    return None


def keep(folder: Path, name: str, key: bytes, content: bytes) -> None:
    """Cache the content for this name and key if possible, and remove all but the newest files of the name."""
    if _is_unsafe(folder):
        return
    with suppress(OSError):
        _write(_make_path(folder, name, key), hashlib.sha256(content).digest() + content)
        written = sorted(folder.glob(f"{name}-*{_SUFFIX}"), key=lambda path: path.stat().st_mtime)
        for old in written[:-_MOST]:
            old.unlink()


def _is_unsafe(folder: Path) -> bool:
    """Return whether a Windows folder is outside the user's home, where permissions are hard to check."""
    return sys.platform == "win32" and not folder.is_relative_to(Path.home())


def _make_path(folder: Path, name: str, key: bytes) -> Path:
    return folder / f"{name}-{hashlib.sha256(key).hexdigest()[:32]}{_SUFFIX}"


def hash_folders(folders: list[Path]) -> bytes:
    """Return the names, sizes and times of the .py and .yaml files in these folders, as part of a cache key."""
    paths = [os.path.join(path, name) for folder in folders for path, _, names in os.walk(folder) for name in names]
    stats = [(path, os.stat(path)) for path in sorted(paths) if path.endswith((".py", ".yaml"))]
    return repr([(path, stat.st_mtime_ns, stat.st_size) for path, stat in stats]).encode()


def _read(path: Path) -> bytes:
    _refuse_foreign(path.parent.lstat())
    with open(os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)), "rb") as file:
        _refuse_foreign(os.fstat(file.fileno()))
        return file.read()


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    _refuse_foreign(path.parent.lstat())
    partial = path.with_name(f".{token_hex(8)}.partial")
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        with open(os.open(partial, flags, 0o600), "wb") as file:
            file.write(content)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def _refuse_foreign(stat_result: os.stat_result) -> None:
    if sys.platform != "win32" and (
        stat_result.st_uid != os.geteuid() or stat_result.st_mode & _WRITABLE_BY_GROUP_OR_ALL
    ):
        raise PermissionError


def cache_folder() -> Path:
    """Return the folder for files that can be rebuilt: `PLIMSOLL_CACHE`, else plimsoll/ in the user's cache folder."""
    if chosen := os.environ.get("PLIMSOLL_CACHE"):
        return Path(chosen).absolute()
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "plimsoll"
    if sys.platform == "darwin":
        return Path.home() / "Library/Caches/plimsoll"
    chosen = os.environ.get("XDG_CACHE_HOME", "")
    # The XDG specification ignores paths that are not absolute.
    return (Path(chosen) if chosen.startswith("/") else Path.home() / ".cache") / "plimsoll"
