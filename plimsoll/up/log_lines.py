"""The log of `plimsoll up`: lines for people, on stderr or in a file."""

import logging
import os
import sys
from datetime import datetime
from logging.handlers import RotatingFileHandler
from pathlib import Path

from plimsoll.model.errors import escape

_HOUR_S = 3600.0
_MOST_REMEMBERED = 1000
_FILE_BYTES, _OLD_FILES = 5_000_000, 3
# The priorities of syslog; systemd's journal reads them at the beginning of a line.
_PRIORITIES = {logging.DEBUG: 7, logging.INFO: 6, logging.WARNING: 4, logging.ERROR: 3, logging.CRITICAL: 2}


def set_up(file: Path | None = None) -> None:
    """Send all logging to stderr, or to `file`, which is rotated at 5 MB; three older files are kept.

    If stderr goes to the journal of systemd, lines begin with a priority instead of the time. Messages of libraries are
    logged from level warning on.
    """
    if file is None:
        handler: logging.Handler = logging.StreamHandler(sys.stderr)
    else:
        handler = RotatingFileHandler(file, maxBytes=_FILE_BYTES, backupCount=_OLD_FILES, encoding="utf-8", delay=True)
    handler.setFormatter(_Lines(is_journal=file is None and _is_journal()))
    handler.addFilter(_Repetitions())
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    logging.getLogger("plimsoll").setLevel(logging.INFO)
    logging.captureWarnings(True)


def _is_journal() -> bool:
    """Return whether stderr goes to the journal of systemd.

    JOURNAL_STREAM alone does not tell, as a child process may inherit it but have another stderr.
    """
    try:
        fstat = os.fstat(2)
    except OSError:
        return False
    return os.environ.get("JOURNAL_STREAM") == f"{fstat.st_dev}:{fstat.st_ino}"


class _Lines(logging.Formatter):
    """Formats log records: `2026-03-10 10:00:00+01:00 warning: what happened`; in the journal `<4>what happened`.

    Every line of a traceback gets this prefix, too.
    """

    def __init__(self, *, is_journal: bool) -> None:
        super().__init__()
        self._is_journal = is_journal

    def format(self, record: logging.LogRecord) -> str:
        """Return a log record as lines of text, with invisible characters escaped."""
        lines = [record.getMessage()]
        if record.exc_info:
            lines += self.formatException(record.exc_info).split("\n")
        at = datetime.fromtimestamp(record.created).astimezone().isoformat(" ", "seconds")
        priority = f"<{_PRIORITIES.get(record.levelno, 6)}>"
        start = priority if self._is_journal else f"{at} {record.levelname.lower()}: "
        return "\n".join(start + escape(line) for line in lines)


class _Repetitions(logging.Filter):
    """A log filter that passes the same warning or error once an hour only.

    The passed message says how often it was suppressed since it last passed.
    """

    def __init__(self) -> None:
        super().__init__()
        self._repeats: dict[tuple[str, str], tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether a log record is to be written."""
        if record.levelno < logging.WARNING:
            return True
        message = record.getMessage()
        key = (record.name, message)
        at, left_out = self._repeats.pop(key, (float("-inf"), 0))
        if 0 <= record.created - at < _HOUR_S:
            self._repeats[key] = (at, left_out + 1)
            return False
        if left_out:
            record.msg, record.args = f"{message} ({left_out} more times since it was said last)", None
        self._repeats[key] = (record.created, 0)
        while len(self._repeats) > _MOST_REMEMBERED:
            del self._repeats[next(iter(self._repeats))]
        return True
