"""Looks every 10 s, each check in a thread of its own, so that one that waits holds up nothing."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from threading import Thread
from typing import NamedTuple, TypeAlias

from plimsoll.collect.checks import reached, running
from plimsoll.collect.checks.settings import CheckSettings
from plimsoll.collect.sources.reading import Group, Reading

Look: TypeAlias = Callable[[], Iterable[Reading]]


class Check(NamedTuple):
    """How a check is made, and what it gives where no answer came by the time of the next look."""

    look: Look
    late: Look


def groups(checks: Sequence[CheckSettings]) -> Mapping[str, Group]:
    """What makes each check, by the name that people see when it fails."""
    return {f"check {one.title}": Looking(check_of(one)) for one in checks}


def check_of(one: CheckSettings) -> Check:
    """How a check is made."""
    if one.kind in ("service", "process"):
        return Check(lambda: running.look(one), lambda: ())
    site = reached.Site(one)
    return Check(site.look, site.late)


class Looking:
    """A check as a group of readings: gives what the last look found, and begins the next one."""

    def __init__(self, check: Check) -> None:
        self._check = check
        self._thread: Thread | None = None
        self._found: Sequence[Reading] = ()
        self._failed: Exception | None = None
        self._said: Exception | None = None

    def __call__(self) -> Iterable[Reading]:
        """What was found since the last call."""
        if self._thread is not None and self._thread.is_alive():
            if self._said is not None:
                raise self._said
            return self._check.late()
        found, failed = self._found, self._failed
        self._found, self._failed, self._said = (), None, failed
        self._thread = Thread(target=self._look, name="check", daemon=True)
        self._thread.start()
        if failed is not None:
            raise failed
        return found

    def _look(self) -> None:
        try:
            self._found = [*self._check.look()]
        except Exception as error:  # whatever it is, it is said by whoever asks for the readings
            self._failed = error
