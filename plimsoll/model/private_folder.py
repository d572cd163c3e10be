"""Checks that only the user can change the content of a folder."""

import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

from plimsoll.model.errors import Unusable
from plimsoll.model.parameters import Parameter

_ROOT = 0
_MOST_LINKS = 40  # Linux's limit


def check_private(folder: Path, option: str = Parameter.STORE) -> None:
    """Raise Unusable if another user owns a folder, may write in it, or could replace a folder on its path.

    The folder need not exist. Sticky folders such as /tmp are safe on the path, as only an owner can replace entries
    there. `option` is the option of the command that names the folder.
    """
    if sys.platform == "win32":
        return
    me = os.geteuid()
    *above, (last, status) = _list_steps(folder.absolute())
    for step, stat_result in above:
        _check(folder, step, stat_result, option, owners=(me, _ROOT), sticky=True)
    on_the_way = os.path.realpath(folder) != os.path.realpath(last)  # the folder does not exist yet
    _check(folder, last, status, option, owners=(me, _ROOT) if on_the_way else (me,), sticky=on_the_way)


def _check(
    folder: Path, step: Path, status: os.stat_result, option: str, owners: tuple[int, ...], *, sticky: bool
) -> None:
    why = ""
    if status.st_uid not in owners:
        why = f"{step} belongs to another user, {_find_owner(status)}"
    elif not stat.S_ISLNK(status.st_mode) and not (
        sticky and status.st_mode & stat.S_ISVTX
    ):  # a link's mode is ignored
        by_group = bool(status.st_mode & stat.S_IWGRP) and not _is_own_group(status.st_gid)
        why = f"others may write in {step}" if by_group or status.st_mode & stat.S_IWOTH else ""
    if why:
        raise Unusable(f"{folder}: is not safe for secrets: {why}; mend that, or choose another with {option}")


def _list_steps(path: Path) -> Iterator[tuple[Path, os.stat_result]]:
    """Yield the folders and symbolic links on a path, as far as they exist."""
    here, todo, links = Path(path.anchor), list(path.parts[1:]), 0
    yield here, here.lstat()
    while todo:
        name = todo.pop(0)
        step = here.parent if name == ".." else here / name
        try:
            status = step.lstat()
        except (FileNotFoundError, NotADirectoryError):
            return
        yield step, status
        if stat.S_ISLNK(status.st_mode) and links < _MOST_LINKS:
            target = step.readlink()
            here, links = (Path(target.anchor) if target.is_absolute() else here), links + 1
            todo = [*target.parts[target.is_absolute() :], *todo]
        else:
            here = step


def _is_own_group(group: int) -> bool:
    """Return whether a group belongs to this user alone, as many systems make a group for each user."""
    import grp  # noqa: PLC0415 - Windows has none
    import pwd  # noqa: PLC0415

    try:
        me, entry = pwd.getpwuid(os.geteuid()), grp.getgrgid(group)
    except KeyError:
        return False
    return (entry.gr_gid, entry.gr_name) == (me.pw_gid, me.pw_name) and set(entry.gr_mem) <= {me.pw_name}


def _find_owner(status: os.stat_result) -> str:
    import pwd  # noqa: PLC0415 - Windows has none

    try:
        return pwd.getpwuid(status.st_uid).pw_name
    except KeyError:
        return str(status.st_uid)
