"""Checks the clock of this machine against the last evaluation and the clocks of the hosts that send samples."""

from collections.abc import Callable, Collection
from dataclasses import dataclass

from plimsoll.alerting.alerts_file import AlertsFile
from plimsoll.alerting.clock_skew import ClockSkew
from plimsoll.model.times import SECOND, format_duration, format_iso

_MINUTE = 60 * SECOND
_HOUR = 60 * _MINUTE
_SET_BACK = _MINUTE  # a smaller step of the clock is over before anybody could look
_JUMP = 10 * _MINUTE  # since the last evaluation; from then on hosts are compared
_FAR = 24 * _HOUR  # a longer jump is believed only if hosts confirm it, or after a while if none sends
_UNCONTRADICTED = 5 * _MINUTE
_COMPARED = _HOUR  # for so long after a jump hosts may contradict it
_UNCONFIRMED = 24 * _HOUR  # nothing is deleted by a time that no host confirmed
_ACCEPTED = "accepted clock"


@dataclass(frozen=True, slots=True)
class _Jump:
    """A jump of this machine's clock: the clock's time when seen, the length (ns), and the last evaluation (UTC ns)."""

    at: int
    step: int
    last: int | None

    def __str__(self) -> str:
        by = format_duration(abs(self.step) // _MINUTE * _MINUTE)
        change = f"was set back by {by}" if self.step < 0 else f"jumped by {by}"
        return f"{change} since the last evaluation, of {format_iso(self.last or 0)}"


class MachineClock:
    """A check of whether the clock of this machine can be trusted.

    The clock is wrong if it jumped since the last evaluation, while most hosts still send samples with times before the
    jump. `local_hosts` returns the hosts whose samples get their times from this clock. `deletes_until` is the time
    (UTC ns) up to which samples may be deleted for their age.
    """

    def __init__(self, file: AlertsFile, skew: ClockSkew, local_hosts: Callable[[], Collection[str]] = tuple) -> None:
        self._file = file
        self._skew = skew
        self._local_hosts = local_hosts
        self._jump: _Jump | None = None
        self._unconfirmed: int | None = None
        self.deletes_until: int | None = None

    def doubt(self, last: int | None, due: int, now: int) -> str:
        """Return why the clock is not trusted, so that the evaluation at `due` must wait; empty if the clock is right.

        All times are UTC ns. Call this before each evaluation.
        """
        step = due - (due if last is None else last)
        jump, is_far = self._jump, step > _JUMP or step < -_SET_BACK
        if jump and (not 0 <= now - jump.at <= _COMPARED or (not is_far and last == jump.last)):
            jump = None
        if is_far and (jump is None or (jump.step > 0) != (step > 0)):
            jump = _Jump(now, step, last)
        self._jump, self._skew.is_compared = jump, jump is not None
        text = self._question_jump(jump, now) if jump else ""
        if not text and (self._unconfirmed is None or not 0 <= now - self._unconfirmed < _UNCONFIRMED):
            self.deletes_until = due
        return text

    def _question_jump(self, jump: _Jump, now: int) -> str:
        """Return why a jump of the clock is not believed; if it is, return an empty text and forget the jump."""
        ahead = self._skew.consensus(now, self._local_hosts())
        is_confirmed = ahead == 0 or _is_accepted(self._file, now)
        if not is_confirmed and ahead and ahead * jump.step > 0 and 2 * abs(ahead) >= abs(jump.step):
            side = "ahead of" if ahead > 0 else "behind"
            by = format_duration(abs(ahead) // _MINUTE * _MINUTE)
            return f"the clock of this machine {jump}, and is {by} {side} those of most hosts; {_TO_DO}"
        is_over = now - jump.at > _UNCONTRADICTED
        if not is_confirmed and not is_over and not 0 < jump.step <= _FAR:
            return f"the clock of this machine {jump}, and no other host confirms it yet; {_TO_DO}"
        if is_confirmed or jump.step > _FAR or jump.step < 0:
            self._jump, self._unconfirmed = None, None if is_confirmed else now
        return ""


_TO_DO = "set it right, or accept it: plimsoll alerts accept-clock"


def accept(file: AlertsFile, now: int) -> None:
    """Accept the present time of this machine's clock (UTC ns) for evaluations, even if hosts send other times."""
    with file.transaction() as connection:
        connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (_ACCEPTED, now))


def _is_accepted(file: AlertsFile, now: int) -> bool:
    rows = file.rows("SELECT value FROM meta WHERE name = ?", (_ACCEPTED,))
    return bool(rows) and abs(now - rows[0]["value"]) <= _JUMP
