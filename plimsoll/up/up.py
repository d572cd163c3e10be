"""`plimsoll up`: collects, takes what agents send, judges, and notifies, in one process."""

import logging
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Thread

from starlette.routing import BaseRoute

from plimsoll.alerting.book.book import AlertBook
from plimsoll.alerting.book.database import NAME, AlertsFile
from plimsoll.alerting.loop import DELAY, AlertLoop
from plimsoll.alerting.planning import Site
from plimsoll.alerting.process_lines import ProcessLines
from plimsoll.alerting.roster import Roster
from plimsoll.alerting.troubles import Trouble
from plimsoll.collect.processes import ProcessWatch
from plimsoll.hosts.facts import GivenFacts
from plimsoll.model.errors import Unreachable, Unusable
from plimsoll.model.points import Points
from plimsoll.native.running import OnlyOne
from plimsoll.notify import settings as up_settings
from plimsoll.notify.delivery import senders
from plimsoll.notify.heartbeat import Heartbeat
from plimsoll.notify.redaction import hide_in_logs
from plimsoll.notify.settings import UpSettings
from plimsoll.notify.targets import Notifier
from plimsoll.receive.writing import NotWritten, Writing
from plimsoll.serve.access import Access
from plimsoll.serve.credentials import Credentials
from plimsoll.serve.limits import Limits
from plimsoll.serve.listen import Listen, PublicAddress
from plimsoll.serve.server import create_app
from plimsoll.serve.serving import Certificate, Serving
from plimsoll.store.duck.store import DuckStore
from plimsoll.store.protocol import Store
from plimsoll.up import overview
from plimsoll.up.sources import Source, Sources
from plimsoll.up.watchdog import Watchdog
from plimsoll.up.watched import Watched

_TIDY_S = 60.0
_DAY_S = 86_400

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Setup:
    """How to run.

    `sources` are asked for points every 10 s; `host` is the name under which one of them collects this computer.
    `delay` (ns) is how long after its time an evaluation is performed. `pages` makes the pages to serve. `url` is the
    address under which people reach it, where that is not the one it listens on.
    """

    folder: Path
    listen: Listen = field(default_factory=Listen)
    sources: Sequence[Source] = ()
    host: str | None = None
    certificate: Certificate | None = None
    allowed_hosts: Sequence[str] = ()
    delay: int = DELAY
    pages: Callable[[Watched], Sequence[BaseRoute]] = lambda _: ()
    url: PublicAddress | None = None


class Up:
    """Everything that runs. `stop` ends it, in an order in which nothing that was received is lost."""

    def __init__(self, setup: Setup, lock: OnlyOne, store: Store, site: Site, given: GivenFacts) -> None:
        self._setup = setup
        self._lock = lock
        self._store = store
        self._site = site
        self._given = given
        self._stop = Event()
        self._closing = ExitStack()
        self._started = time.time_ns()
        self._settings = up_settings.load(setup.folder)
        hide_in_logs(self._settings.addresses)
        _check_login(setup, self._settings)
        self._limits = Limits(past_s=self._settings.store.days * _DAY_S, bounds=self._settings.limits.bounds)
        self._watch = ProcessWatch() if setup.host else None
        self._file = AlertsFile(setup.folder / NAME)
        self._writing = Writing(store, self._written)
        self.loop = AlertLoop(
            store,
            site,
            given,
            AlertBook(self._file, site.catalogue.signals),
            Roster(self._file, self._settings.roster.hosts, self._settings.roster.silent_after),
            delay=setup.delay,
            processes=ProcessLines(store, site.catalogue.signals, setup.host or "", self._watch),
            troubles=self._troubles,
            on_step=self._stepped,
            most_hosts=self._settings.limits.hosts,
        )
        self.address = str(setup.url) if setup.url else setup.listen.url(tls=setup.certificate is not None)
        found = senders(self._settings, str(setup.folder / up_settings.FILE_NAME))
        self._notifier = Notifier(self._file, self._settings, found, now=self._started, pages=self.address)
        self._heartbeat = self._heart(self._settings)
        self._credentials = Credentials(setup.folder)
        self._servers = self._listening()
        self._sources = Sources(setup.sources, self._writing)
        watchdog = Watchdog(lambda: self.loop.last, self._notifier.say)
        self._threads = [
            Thread(target=self.loop.run, args=(self._stop,), name="alert loop"),
            Thread(target=self._tidy, name="tidying"),
            Thread(target=watchdog.run, args=(self._stop,), name="watchdog"),
        ]

    def start(self) -> None:
        """Begin to collect, judge and notify; the server listens already."""
        self._lock.announce(self._servers[-1].address)
        self._notifier.start()
        if self._heartbeat:
            self._heartbeat.start()
        self._sources.start()
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Stop the server first, then write what it received, then close the files. The loop is told to end at once."""
        self._stop.set()
        self._closing.close()
        for server in self._servers:
            server.stop()
        self._sources.stop()
        self._writing.close()
        for thread in self._threads:
            if thread.ident:
                thread.join()
        if self._heartbeat:
            self._heartbeat.stop()
        self._notifier.stop()
        self._file.close()
        self._lock.release()

    def put(self, points: Points) -> None:
        """Write points now, as the demo does with those of the past."""
        try:
            self._writing.put(points).result()
        except NotWritten as error:
            raise Unusable(str(error)) from None

    @property
    def host(self) -> str | None:
        """The name under which this computer is collected; None if it is not."""
        return self._setup.host

    @property
    def is_running(self) -> bool:
        """Whether the server and the loop run."""
        return all(server.running for server in self._servers) and all(thread.is_alive() for thread in self._threads)

    def _listening(self) -> list[Serving]:
        """The servers; if one cannot listen, nothing that was begun goes on."""
        with ExitStack() as undone:
            undone.callback(self._file.close)
            undone.callback(self._closing.close)
            servers = [self._serving(self._setup.listen, self._setup.certificate)]
            undone.callback(servers[0].stop)
            if self._setup.certificate or not self._setup.listen.is_loopback:
                # For commands on this computer, which then need to trust no certificate.
                servers.append(self._serving(Listen(port=0), None, owner_only=True))
            undone.pop_all()
            return servers

    def _serving(self, listen: Listen, certificate: Certificate | None, *, owner_only: bool = False) -> Serving:
        login = self._settings.login == "always"
        access = Access(listen, self._credentials, _names(self._setup), owner_only, login, self._setup.url)
        pages = () if owner_only else self._pages()
        app = create_app(self._store, self._writing, access, self._health, self._limits, pages)
        return Serving(app, listen, certificate, self._limits, behind_proxy=access.is_behind_proxy)

    def _heart(self, settings: UpSettings) -> Heartbeat | None:
        if settings.heartbeat is None:
            return None
        return Heartbeat(settings.heartbeat.url.get_secret_value(), self._notifier.trouble)

    def _written(self, points: Points) -> None:
        self.loop.written(points, time.time_ns())

    def _stepped(self, now: int) -> None:
        if self._watch:
            self._watch.look(now)
        self._notifier.stepped(now)

    def _troubles(self) -> list[Trouble]:
        now = time.time_ns()
        written, open_ones = self._writing.state, self._servers[0].connections
        return [*overview.troubles(self.loop.progress, written, self._notifier, now, self._started, open_ones)]

    def _pages(self) -> Sequence[BaseRoute]:
        return self._setup.pages(
            Watched(
                store=self._store,
                file=self._file,
                site=self._site,
                given=self._given,
                zone=self._settings.zone,
                folder=self._setup.folder,
                progress=lambda: self.loop.progress,
                judged=lambda: self.loop.judged,
                health=self._health,
                limits=self._limits,
                closing=self._closing,
            )
        )

    def _health(self) -> overview.Health:
        size = self._store.size() if isinstance(self._store, DuckStore) else None
        return overview.health(
            self._file,
            self.loop.progress,
            self._troubles(),
            self._writing.state,
            self._store.name,
            size,
            time.time_ns(),
        )

    def _tidy(self) -> None:
        while not self._stop.wait(_TIDY_S):
            try:
                while isinstance(self._store, DuckStore) and self._store.tidy(time.time_ns()):
                    if self._stop.is_set():
                        return
            except (Unreachable, Unusable) as error:
                _log.error("the store cannot be tidied: %s", error)
            except Exception:  # the thread must go on
                _log.exception("tidying failed")


def _check_login(setup: Setup, settings: UpSettings) -> None:
    """Unusable if others than this machine are to reach it by a name, through a proxy, and need no login."""
    if _names(setup) and setup.listen.is_loopback and settings.login != "always":
        raise Unusable(
            f"{', '.join(_names(setup))}: leads here only through a proxy, whose clients would need no "
            f'login: write login = "always" into {setup.folder / up_settings.FILE_NAME}'
        )


def _names(setup: Setup) -> list[str]:
    """The names by which clients call it, but those of the address that it listens on."""
    public = setup.url.host if setup.url and not setup.url.is_loopback else None
    return [*setup.allowed_hosts, *([public] if public else [])]
