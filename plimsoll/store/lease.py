"""Leases on runs: while a command holds one, no other command loads or deletes the run.

InfluxDB has no locks. A command writes a claim, and holds the lease if it then sees no other claim; of two commands
that claim at the same time, at least one sees the other. A claim ends when its holder withdraws it, when another
command ends it by force, or when another command wants the run and the holder has sent no heartbeat for `LIFE_S` by the
store's clock. `Lease.check` tells the holder that its claim has ended; the holder must then undo what it has written
since.
"""

import getpass
import os
import random
import socket
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from threading import Event, Thread
from uuid import uuid4

from plimsoll.model.errors import Unreachable, Unusable
from plimsoll.model.parameters import Parameter
from plimsoll.model.times import format_iso
from plimsoll.store.protocol import Claim, Claims, Work

BEAT_S = 5.0
LIFE_S = 20.0
_PATIENCE_S = 300.0
_LOOKS_EVERY_S = 0.5
_DONE = {Work.LOADING: "loaded", Work.DELETING: "deleted"}
Notify = Callable[[str], None]


class LeaseEnded(Unusable):
    """The error that another command ended this command's claim, in order to load or delete the run."""


class Lease:
    """A claim on a run, and the heartbeats that keep it alive."""

    def __init__(self, claims: Claims, run: str, work: Work) -> None:
        self._claims = claims
        self._claim = Claim(run, uuid4().hex, work, this_process())
        self._done = Event()
        self._beats = Thread(target=self._send_heartbeat, daemon=True)

    def acquire(self, *, force: bool, notify: Notify) -> None:
        """Claim the run, and wait until there is no other claim.

        With `force`, end all other claims; without `force`, raise Unusable if the holder of another claim is alive.
        """
        heard: dict[str, int] = {}
        until = time.monotonic() + _PATIENCE_S
        while True:
            other_claims = self._list_others()
            living = [claim for claim in other_claims if claim.alive and not force]
            for claim in other_claims:
                if claim not in living:
                    self._claims.withdraw(claim.holder)
            if not living:
                self._claims.claim(self._claim)
                if not self._list_others():
                    self._beats.start()
                    return
                self._claims.withdraw(self._claim.holder)
                time.sleep(random.uniform(0.1, 1))
            for other in living:
                if not heard:
                    notify(f"{described(other)}: waiting until it has ended")
                goes_on = other.heard > heard.setdefault(other.holder, other.heard)
                if goes_on or time.monotonic() > until:
                    end = f", or end it with {Parameter.FORCE}" if self._claim.work is Work.DELETING else ""
                    raise Unusable(f"{described(other)}: wait until it has ended{end}")
            if living:
                time.sleep(_LOOKS_EVERY_S)

    def check(self) -> None:
        """Raise LeaseEnded if another command ended the claim."""
        claims = self._claims.current(LIFE_S)
        if any(claim.holder == self._claim.holder for claim in claims):
            return
        now = next((f"; now {described(claim)}" for claim in claims if claim.run == self._claim.run), "")
        raise LeaseEnded(
            f'run "{self._claim.run}": another command took it over while this one was {self._claim.work} it{now}'
        )

    def release(self) -> None:
        """Withdraw the claim on the run, and end its heartbeats."""
        self._done.set()
        self._beats.join(1)
        self._claims.withdraw(self._claim.holder)

    def _list_others(self) -> list[Claim]:
        mine = self._claim
        claims = self._claims.current(LIFE_S)
        return [claim for claim in claims if claim.holder != mine.holder and claim.run == mine.run]

    def _send_heartbeat(self) -> None:
        while not self._done.wait(BEAT_S):
            with suppress(Unreachable, Unusable):  # the command itself gets the same error
                self._claims.beat(self._claim)


@contextmanager
def hold_lease(claims: Claims, run: str, work: Work, *, force: bool = False, notify: Notify) -> Generator[Lease]:
    """Hold a lease on a run during the block. See `Lease.acquire`."""
    lease = Lease(claims, run, work)
    lease.acquire(force=force, notify=notify)
    try:
        yield lease
    except Unreachable:
        raise  # the claim ends by itself
    except BaseException:
        with suppress(Unreachable, Unusable):
            lease.release()
        raise
    else:
        lease.release()


def described(claim: Claim, *, short: bool = False) -> str:
    """Return a claim in words: `run "night" is being loaded by root@build (process 7) since 2026-11-22T10:04:05Z`."""
    work = f"being {_DONE[claim.work]} by {claim.who} since {format_iso(claim.since)[:19]}Z"
    return work if short else f'run "{claim.run}" is {work}'


def this_process() -> str:
    """Return the name of this process for people: `root@build (process 7)`."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError):  # a user without a name, as in a container
        user = "somebody"
    return f"{user}@{socket.gethostname()} (process {os.getpid()})"
