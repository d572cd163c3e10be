"""Reports unexpected errors, which are defects of Plimsoll; the exit status is then 70."""

import platform
import sys
import traceback
from contextlib import suppress

from plimsoll.model.errors import escape

STATUS = 70  # EX_SOFTWARE of sysexits.h
_MOST_CALLS = 40


def report(error: BaseException) -> int:
    """Print an unexpected error to stderr, with what is needed to report and mend it; return the exit status."""
    from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415  slow, and needed only here

    try:
        ours = version("plimsoll")
    except PackageNotFoundError:
        ours = "of a checkout"
    description = f"{type(error).__name__}: {error}".removesuffix(": ")
    prefix = "this is"
    if isinstance(error, MemoryError):
        prefix = "out of memory: read fewer or smaller files. If they are small, this is"
    lines = [
        f"plimsoll: {prefix} a defect of Plimsoll ({description}); please report it with your command and these lines:",
        f"plimsoll {ours}, Python {platform.python_version()}, {platform.system()} {platform.release()}",
    ]
    for part in traceback.format_exception(error, limit=-_MOST_CALLS):
        lines += part.rstrip("\n").split("\n")
    with suppress(OSError):
        print("\n".join(map(escape, lines)), file=sys.stderr)
    return STATUS
