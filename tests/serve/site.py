"""A running server for tests."""

import time
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import urllib3

from plimsoll.alerting import rule_targets
from plimsoll.alerting.alerts_file import NAME, AlertsFile
from plimsoll.alerting.health import Health, Progress
from plimsoll.alerting.latest_evaluation import LatestEvaluation
from plimsoll.model.times import Zone
from plimsoll.pages.application import list_routes
from plimsoll.receive.exporters.translate import Translator
from plimsoll.receive.write_queue import WriteQueue
from plimsoll.rules.load import load
from plimsoll.serve.access import Access
from plimsoll.serve.credentials import Credentials
from plimsoll.serve.limits import RequestLimits
from plimsoll.serve.listen import Listen
from plimsoll.serve.server import create_app
from plimsoll.serve.serving import Serving
from plimsoll.store.store import Store
from plimsoll.up.running import OnlyOne
from plimsoll.up.watched import Watched

LOOPBACK = Listen(port=0)
EVERYWHERE = Listen("0.0.0.0", 0)
PAST_S = 10**10  # so that times may be small numbers


@dataclass
class Site:
    """A server, with what it serves."""

    address: str
    folder: Path
    store: Store
    writing: WriteQueue
    serving: Serving

    @property
    def port(self):
        return urlsplit(self.address).port or 0

    def request(self, method, path, body=None, headers=None, **options: Any):
        """An answer; nothing is sent but what is given."""
        with urllib3.PoolManager(retries=False, timeout=300) as pools:
            return pools.request(method, self.address + path, body=body, headers=headers or {}, **options)

    def post(self, body, path="/api/v2/write?org=o&bucket=b", **headers):
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.request("POST", path, body, named)

    def stored(self):
        """All values in the store, by host, measurement, tags, field and time."""
        ever = (-(2**63) + 2, 2**63 - 2)
        result = self.store.samples.series(*ever).series
        return {
            (series.host, series.measurement, series.tags, series.field, time): value
            for series, samples in zip(result, self.store.samples.read(result, *ever), strict=True)
            for time, value in zip(samples.times.tolist(), samples.values.tolist(), strict=True)
        }


def wait_until(condition, patience_s=300):
    """Wait until a condition holds. What takes longer is looked at less often."""
    end, pause_s = time.monotonic() + patience_s, 0.01
    while not condition():
        assert time.monotonic() < end
        time.sleep(pause_s)
        pause_s = min(1.2 * pause_s, 0.25)


def watched(store, folder, file, health: Callable[[], Health] = Health, limits=None):
    """What pages read, where nothing was judged yet."""
    return Watched(
        store=store,
        file=file,
        site=rule_targets.Site(load()),
        configured={},
        zone=Zone.parse("UTC"),
        folder=folder,
        progress=Progress,
        judged=LatestEvaluation,
        health=health,
        limits=limits or RequestLimits(),
    )


@contextmanager
def site(
    store,
    folder,
    *,
    listen=LOOPBACK,
    hosts=(),
    owner_only=False,
    login=False,
    url=None,
    proxy=None,
    health: Callable[[], Health] = Health,
    on_written=None,
    certificate=None,
    limits=None,
    **watching: Any,
):
    """A server for a store, with its secrets in a folder that is made. `watching` are fields of what its pages read."""
    folder.mkdir(mode=0o700, exist_ok=True)
    lock = OnlyOne(folder)
    writing = WriteQueue(store.live, *([on_written] if on_written else []))
    access = Access(listen, Credentials(folder), hosts, owner_only, login, url, proxy)
    limits = replace(limits or RequestLimits(), past_s=PAST_S)
    file = AlertsFile(folder / NAME)
    shown = watched(store, folder, file, health=health, limits=limits)
    app = create_app(
        store, writing, access, health, limits, list_routes(replace(shown, **watching)), Translator(load().signals)
    )
    serving = Serving(app, listen, certificate, limits, behind_proxy=access.is_behind_proxy)
    lock.announce(serving.address)
    address = serving.address.replace("0.0.0.0", "127.0.0.1")
    try:
        yield Site(address, folder, store, writing, serving)
    finally:
        shown.closing.close()
        serving.stop()
        writing.close()
        file.close()
        lock.release()
