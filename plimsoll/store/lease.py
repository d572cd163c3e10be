"""Leases on runs: while a command holds one, no other command loads or deletes the run.

InfluxDB has no locks. A command writes a claim, and holds the lease if it then finds no other claim; of two commands
that claim at the same time, at least one finds the other. A claim ends when its holder withdraws it, when nothing was
heard of the holder for `LIFE_S` by the store's clock and another command wants the run, or when another command ends it
by force. `Lease.check` tells the holder. What it had sent before it knew, it must undo.
"""

import getpass
import os
import random
import socket
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from threading import Event, Thread
from uuid import uuid4

from plimsoll.model.errors import Unreachable, Unusable
from plimsoll.model.parameters import Parameter
from plimsoll.model.times import iso
from plimsoll.store.protocol import Claim, Claims, Work

BEAT_S = 5.0
LIFE_S = 20.0
_PATIENCE_S = 300.0
_LOOKS_EVERY_S = 0.5
_DONE = {Work.LOADING: "loaded", Work.DELETING: "deleted"}

Notify = Callable[[str], None]


class LeaseEnded(Unusable):
    """Another command ended the claim and works on the run, or has worked on it."""


class Lease:
    """A claim that is held."""

    def __init__(self, claims: Claims, run: str, work: Work) -> None:
        self._claims = claims
        self._claim = Claim(run, uuid4().hex, work, this_process())
        self._done = Event()
        self._beats = Thread(target=self._beat, daemon=True)

    def acquire(self, *, force: bool, notify: Notify) -> None:
        """Claim the run as soon as there is no other claim on it.

        `force` ends another claim. Unusable if its holder is alive otherwise.
        """
        heard: dict[str, int] = {}
        until = time.monotonic() + _PATIENCE_S
        while True:
            living = self._living(self._others(), force=force)
            if not living:
                self._claims.claim(self._claim)
                if not self._others():
                    self._beats.start()
                    return
                self._claims.withdraw(self._claim.holder)
                time.sleep(random.uniform(0.1, 1))
            for other in living:
                if not heard:
                    notify(f"{described(other)}: waiting until it has ended")
                goes_on = other.heard > heard.setdefault(other.holder, other.heard)
                if goes_on or time.monotonic() > until:
                    raise Unusable(f"{described(other)}: {_advice(self._claim)}")
            if living:
                time.sleep(_LOOKS_EVERY_S)

    def check(self) -> None:
        """Raise LeaseEnded if the claim was ended."""
        claims = self._claims.current(LIFE_S)
        if any(claim.holder == self._claim.holder for claim in claims):
            return
        now = next((f"; now {described(claim)}" for claim in claims if claim.run == self._claim.run), "")
        raise LeaseEnded(
            f'run "{self._claim.run}": another command took it over while this one was {self._claim.work} it{now}'
        )

    def release(self) -> None:
        """Withdraw the claim."""
        self._done.set()
        self._beats.join(1)
        self._claims.withdraw(self._claim.holder)

    def _others(self) -> list[Claim]:
        mine = self._claim
        claims = self._claims.current(LIFE_S)
        return [claim for claim in claims if claim.holder != mine.holder and claim.run == mine.run]

    def _living(self, claims: Sequence[Claim], *, force: bool) -> list[Claim]:
        """Return the claims that stay; the others are ended."""
        living = [claim for claim in claims if claim.alive and not force]
        for claim in claims:
            if claim not in living:
                self._claims.withdraw(claim.holder)
        return living

    def _beat(self) -> None:
        while not self._done.wait(BEAT_S):
            with suppress(Unreachable, Unusable):  # the command itself meets the same error
                self._claims.beat(self._claim)


@contextmanager
def leased(claims: Claims, run: str, work: Work, *, force: bool = False, notify: Notify) -> Generator[Lease]:
    """Hold a lease on a run. See `Lease.acquire`."""
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
    work = f"being {_DONE[claim.work]} by {claim.who} since {iso(claim.since)[:19]}Z"
    return work if short else f'run "{claim.run}" is {work}'


def _advice(mine: Claim) -> str:
    end = f", or end it with {Parameter.FORCE}" if mine.work is Work.DELETING else ""
    return f"wait until it has ended{end}"


def this_process() -> str:
    """This process in words: `root@build (process 7)`."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError):  # a container's user without a name
        user = "somebody"
    return f"{user}@{socket.gethostname()} (process {os.getpid()})"
