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
from plimsoll.store.protocol import Store
from plimsoll.store.run_states import Claim, Work

BEAT_S = 5.0
LIFE_S = 20.0
_PATIENCE_S = 300.0
_LOOKS_EVERY_S = 0.5
_DONE = {Work.LOADING: "loaded", Work.DELETING: "deleted"}

Notify = Callable[[str], None]


class LeaseEnded(Unusable):
    """Another command ended the claim and works on the run, or has worked on it."""


class Lease:
    """A claim that is held. `took_over` is whether the claim of another command was ended for it."""

    def __init__(self, store: Store, run: str, work: Work) -> None:
        self._store = store
        self._claim = Claim(run, uuid4().hex, work, this_process())
        self._done = Event()
        self._beats = Thread(target=self._beat, daemon=True)
        self.took_over = False

    def acquire(self, *, force: bool, notify: Notify) -> None:
        """Claim the run as soon as no other claim excludes it.

        `force` ends another claim on the same run. Unusable if that is wanted and its holder is alive, or if another
        run's lasts too long.
        """
        heard: dict[str, int] = {}
        until = time.monotonic() + _PATIENCE_S
        while True:
            others = self._living(self._excluding(), force=force)
            if not others:
                self._store.claim(self._claim)
                if not self._excluding():
                    self._beats.start()
                    return
                self._store.withdraw(self._claim.holder)
                time.sleep(random.uniform(0.1, 1))
            for one in others:
                if not heard:
                    notify(f"{described(one)}: waiting until it has ended")
                goes_on = one.heard > heard.setdefault(one.holder, one.heard)
                if (goes_on and one.run == self._claim.run) or time.monotonic() > until:
                    raise Unusable(f"{described(one)}: {_advice(one, self._claim)}")
            if others:
                time.sleep(_LOOKS_EVERY_S)

    def check(self) -> None:
        """Raise LeaseEnded if the claim was ended."""
        claims = self._store.claims(LIFE_S)
        if any(one.holder == self._claim.holder for one in claims):
            return
        now = next((f"; now {described(one)}" for one in claims if one.run == self._claim.run), "")
        raise LeaseEnded(
            f'run "{self._claim.run}": another command took it over while this one was {self._claim.work} it{now}'
        )

    def release(self) -> None:
        """Withdraw the claim."""
        self._done.set()
        self._beats.join(1)
        self._store.withdraw(self._claim.holder)

    def _excluding(self) -> list[Claim]:
        mine = self._claim
        claims = self._store.claims(LIFE_S)
        return [one for one in claims if one.holder != mine.holder and one.excludes(mine.run, mine.work)]

    def _living(self, claims: Sequence[Claim], *, force: bool) -> list[Claim]:
        """The claims that stay; the others are ended."""
        living: list[Claim] = []
        for one in claims:
            mine = one.run == self._claim.run
            if one.alive and not (force and mine):
                living.append(one)
            else:
                self._store.withdraw(one.holder)
                self.took_over |= mine
        return living

    def _beat(self) -> None:
        while not self._done.wait(BEAT_S):
            with suppress(Unreachable, Unusable):  # the command itself meets the same error
                self._store.beat(self._claim)


@contextmanager
def leased(store: Store, run: str, work: Work, *, force: bool = False, notify: Notify) -> Generator[Lease]:
    """Hold a lease on a run. See `Lease.acquire`."""
    lease = Lease(store, run, work)
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
    """A claim in words: `run "night" is being loaded by root@build (process 7) since 2026-11-22T10:04:05Z`."""
    work = f"being {_DONE[claim.work]} by {claim.who} since {iso(claim.since)[:19]}Z"
    return work if short else f'run "{claim.run}" is {work}'


def _advice(claim: Claim, mine: Claim) -> str:
    if claim.run == mine.run and mine.work is Work.DELETING:
        return f"wait until it has ended, or end it with {Parameter.FORCE}"
    return "wait until it has ended"


def this_process() -> str:
    """This process in words: `root@build (process 7)`."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError):  # a container's user without a name
        user = "somebody"
    return f"{user}@{socket.gethostname()} (process {os.getpid()})"
