"""`plimsoll up`: collects, receives samples of agents, judges them, and notifies, in one process."""

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, RLock, Thread
from typing import TypeAlias

from starlette.routing import BaseRoute

from plimsoll.alerting import actions
from plimsoll.alerting.alert_history import AlertHistory, list_damaged_files, open_alerts_file
from plimsoll.alerting.alerts_file import NotKept
from plimsoll.alerting.host_inventory import HostInventory
from plimsoll.alerting.loop import DELAY, AlertLoop
from plimsoll.alerting.maintenance import MaintenancePlan
from plimsoll.alerting.process_lines import ProcessLines
from plimsoll.alerting.rule_targets import Site
from plimsoll.alerting.self_monitoring import Problem
from plimsoll.alerting.series_index import Stopped
from plimsoll.alerting.space_forecast import EVERY, SpaceForecast
from plimsoll.collect.checks import looking
from plimsoll.collect.collector import Collector
from plimsoll.collect.processes import ProcessWatch
from plimsoll.hosts.facts import ConfiguredFacts
from plimsoll.model.errors import Unreachable, Unusable
from plimsoll.model.points import Points, join_points
from plimsoll.model.series import HostKey
from plimsoll.model.times import SECOND
from plimsoll.notify.delivery import Send, make_senders
from plimsoll.notify.heartbeat import Heartbeat
from plimsoll.notify.redaction import hide_in_logs
from plimsoll.notify.targets import Notifier
from plimsoll.notify.test_message import TargetTester
from plimsoll.receive.exporters.scrape import Scraper
from plimsoll.receive.exporters.translate import Translator
from plimsoll.receive.line_protocol.parse import Parser
from plimsoll.receive.write_queue import Busy, NotWritten, WriteQueue
from plimsoll.rules.schema.field_types import Resource
from plimsoll.rules.states import EVALUATION_INTERVAL
from plimsoll.serve.access import Access, TrustedProxy
from plimsoll.serve.credentials import Credentials
from plimsoll.serve.limits import RequestLimits
from plimsoll.serve.listen import Listen, PublicAddress
from plimsoll.serve.principals import Role, RolesOf
from plimsoll.serve.server import LazyRoutes, create_app
from plimsoll.serve.serving import Certificate, Serving
from plimsoll.store.store import Store
from plimsoll.up import overview, reloading
from plimsoll.up import settings as up_settings
from plimsoll.up.reloading import Reloaded
from plimsoll.up.running import OnlyOne
from plimsoll.up.settings import ProxySettings, UpSettings
from plimsoll.up.watchdog import Watchdog
from plimsoll.up.watched import Watched

# Returns the points of one collection at a time (UTC ns).
Source: TypeAlias = Callable[[int], Points]
_WRITTEN_WITHIN_S = 60


@dataclass(frozen=True)
class Setup:
    """What `plimsoll up` runs with, from the command line.

    Every 10 s, the `sources` are called for points; one of them collects this computer under the name `host`. An
    evaluation for a time is performed `delay` ns after that time. `pages` builds the pages to serve. `url` is the
    public address, if it differs from the address to listen on. `read` reads plimsoll.toml again. `silent` returns the
    counters of this computer that do not answer, with the seconds since the last answer.
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
    read: Callable[[], tuple[Site, ConfiguredFacts]] | None = None
    silent: Callable[[], Mapping[str, float]] = dict

    @property
    def names(self) -> list[str]:
        """The host names that requests may use, besides the address on which the server listens."""
        public = self.url.host if self.url and not self.url.is_loopback else None
        return [*self.allowed_hosts, *([public] if public else [])]

    def check_login(self, settings: UpSettings) -> None:
        """Raise Unusable if people who come through a proxy from other machines would need no login."""
        if self.names and self.listen.is_loopback and settings.login != "always":
            raise Unusable(
                f"{', '.join(self.names)}: leads here only through a proxy, whose clients would need no "
                f'login: write login = "always" into {self.folder / up_settings.FILE_NAME}'
            )
        if settings.proxy and self.listen.is_loopback and settings.login != "always":
            raise Unusable(
                f'{self.folder / up_settings.FILE_NAME}: proxy: what it passes on needs login = "always", or whoever '
                "names nobody would need no login"
            )


_TIDY_S = 60.0
_LOOK_EVERY = 60 * SECOND  # for metrics that never come
_DAY_S = 86_400
_log = logging.getLogger(__name__)


class Up:
    """A running `plimsoll up`: server, alert loop, collection and notifications."""

    def __init__(self, setup: Setup, lock: OnlyOne, store: Store, site: Site, configured: ConfiguredFacts) -> None:
        self._setup = setup
        self._lock = lock
        self._store = store
        self._site = site
        self._facts = configured
        self._stop = Event()
        self._reloading = RLock()
        self._is_started = False
        self._closing = ExitStack()
        self._started = time.time_ns()
        self._settings = up_settings.load(setup.folder)
        hide_in_logs(self._settings.addresses)
        setup.check_login(self._settings)
        self._limits = RequestLimits(past_s=self._settings.store.days * _DAY_S, bounds=self._settings.limits.bounds)
        self._watch = ProcessWatch() if setup.host else None
        self._file = open_alerts_file(setup.folder)
        self._writing = WriteQueue(store.live, lambda points: self.loop.written(points, time.time_ns()))
        self._maintenance = MaintenancePlan(self._file, self._settings.plans, site.labels, self._started)
        self._roster = HostInventory(self._file, self._settings.expected, self._settings.roster.silent_after)
        self.loop = AlertLoop(
            store.live,
            site,
            configured,
            AlertHistory(self._file, site.catalogue.signals),
            self._roster,
            delay=setup.delay,
            processes=ProcessLines(store.live, site.catalogue.signals, setup.host or "", self._watch),
            troubles=self._list_troubles,
            on_step=self._record_step,
            most_hosts=self._settings.limits.hosts,
            zone=self._settings.zone,
            local_hosts=lambda: (*([setup.host] if setup.host else ()), *self._scraper.hosts),
        )
        self.address = str(setup.url) if setup.url else setup.listen.url(tls=setup.certificate is not None)
        self._election = store.election
        self._forecast = SpaceForecast(store.live, site.catalogue.signals), 0
        self._file_name = str(setup.folder / up_settings.FILE_NAME)
        sends = make_senders(self._settings, self._file_name)
        self._trials = TargetTester(self._settings, self._file_name)
        self._notifier = self._make_notifier(self._settings, sends, site, self._started)
        self._heartbeat = self._make_heartbeat(self._settings)
        self._credentials = Credentials(setup.folder)
        self._checks = Collector(setup.host, looking.group_checks(self._settings.check))
        self._translators = Translator(site.catalogue.signals), Translator(site.catalogue.signals)
        self._scraper = Scraper(
            self._settings.targets,
            self._writing,
            self._translators[0],
            Parser(self._limits.bounds),
        )
        self._missing: tuple[int, Mapping[HostKey, Mapping[str, Resource]]] = 0, {}
        self._watched = Watched(
            store=store,
            file=self._file,
            site=site,
            configured=configured,
            zone=self._settings.zone,
            folder=setup.folder,
            progress=lambda: self.loop.progress,
            judged=lambda: self.loop.judged,
            health=self._compute_health,
            reload=self.reload,
            trials=self._trials,
            limits=self._limits,
            closing=self._closing,
        )
        self._servers: Sequence[Serving] = ()  # which already answer while they start
        self._servers = self._start_listening()
        self._collecting = Thread(target=self._collect, name="sources", daemon=True)
        watchdog = Watchdog(lambda: self.loop.last, self._say)
        self._threads = [
            Thread(target=self.loop.run, args=(self._stop,), name="alert loop"),
            Thread(target=self._delete_old, name="tidying"),
            Thread(target=watchdog.run, args=(self._stop,), name="watchdog"),
            *([Thread(target=self._election.run, args=(self._stop,), name="election")] if self._election else []),
        ]

    def start(self) -> None:
        """Start to collect, judge and notify. The server already runs."""
        self._lock.announce(self._servers[-1].address)
        self._notifier.start()
        if self._heartbeat:
            self._heartbeat.start()
        self._collecting.start()
        self._scraper.start()
        for thread in self._threads:
            thread.start()
        self._is_started = True

    def reload(self) -> Reloaded:
        """Read up.toml and plimsoll.toml again. If either is invalid, nothing changes and the result says why."""
        with self._reloading:
            now = time.time_ns()
            try:
                done = self._reload(now)
            except (Unusable, NotKept) as error:
                done = Reloaded(now, refused=str(error))
            self._watched.reloaded = done
        _log.log(logging.WARNING if done.refused else logging.INFO, "%s", done.text)
        return done

    def stop(self) -> None:
        """Stop collection, servers, alert loop and notifications, and close the files.

        The order ensures that all received samples are written.
        """
        self._stop.set()
        self._closing.close()
        for server in self._servers:
            server.stop()
        if self._collecting.ident:
            self._collecting.join()
        self._scraper.stop()
        self._writing.close()
        for thread in self._threads:
            if thread.ident:
                thread.join()
        with self._reloading:
            if self._heartbeat:
                self._heartbeat.stop()
            self._notifier.stop()
        self._file.close()
        self._lock.release()

    def put(self, points: Points) -> None:
        """Write points to the store, and wait until they are committed; for the past samples of the demo."""
        try:
            self._writing.put(points).result()
        except NotWritten as error:
            raise Unusable(str(error)) from None

    @property
    def is_running(self) -> bool:
        """Whether the server and the alert loop run."""
        return all(server.running for server in self._servers) and all(thread.is_alive() for thread in self._threads)

    def _start_listening(self) -> list[Serving]:
        """Start the servers and return them. If one cannot listen, close everything that was opened."""
        with ExitStack() as undone:
            undone.callback(self._file.close)
            undone.callback(self._closing.close)
            servers = [self._serve_address(self._setup.listen, self._setup.certificate)]
            undone.callback(servers[0].stop)
            if self._setup.certificate or not self._setup.listen.is_loopback:
                # Commands on this computer connect here, without a certificate.
                servers.append(self._serve_address(Listen(port=0), None, owner_only=True))
            undone.pop_all()
            return servers

    def _serve_address(self, listen: Listen, certificate: Certificate | None, *, owner_only: bool = False) -> Serving:
        """Return a running server for an address.

        With `owner_only`, the server accepts only commands of the owner, and serves the route of `plimsoll reload` but
        no pages.
        """
        login = self._settings.login == "always"
        proxy = None if owner_only else _load_trusted_proxy(self._settings.proxy)
        url, names = self._setup.url, self._setup.names
        access = Access(listen, self._credentials, names, owner_only, login, url, proxy)
        pages = [
            reloading.make_route(self.reload, self._record_owner),
            *(() if owner_only else [LazyRoutes(lambda: self._setup.pages(self._watched))]),
        ]
        app = create_app(
            self._store, self._writing, access, self._compute_health, self._limits, pages, self._translators[1]
        )
        return Serving(app, listen, certificate, self._limits, behind_proxy=access.is_behind_proxy)

    def _make_notifier(self, settings: UpSettings, sends: Mapping[str, Send], site: Site, now: int) -> Notifier:
        on_duty = self._election.is_leader if self._election else lambda: True
        return Notifier(self._file, settings, sends, now=now, pages=self.address, site=site, on_duty=on_duty)

    def _record_owner(self, text: str) -> None:
        """Add an action of the owner to the audit log; ignore a failure, as the action is already done."""
        with suppress(NotKept):
            actions.write_audit_entry(self._file, actions.Actor("the owner", "command"), time.time_ns(), text)

    def _make_heartbeat(self, settings: UpSettings) -> Heartbeat | None:
        url = settings.heartbeat and settings.heartbeat.url.get_secret_value()
        return Heartbeat(url, self._find_trouble) if url else None

    def _reload(self, now: int) -> Reloaded:
        """Build everything that depends on the settings, then replace the old parts at once; return the result.

        Raise Unusable if the settings are invalid, or while `plimsoll up` is starting or ending.
        """
        if not self._is_started or self._stop.is_set():
            raise Unusable("plimsoll up is starting or ending")
        old = self._settings
        try:
            settings, restart = reloading.choose_fresh(self._setup.folder, old)
            sends = make_senders(settings, self._file_name)
            site, configured = self._setup.read() if self._setup.read else (self._site, self._facts)
            notifier = self._make_notifier(settings, sends, site, now)
        finally:
            hide_in_logs(old.addresses)
        hide_in_logs((*old.addresses, *settings.addresses))
        self._settings, before, self._notifier = settings, self._notifier, notifier
        before.stop()
        notifier.start()
        if settings.heartbeat != old.heartbeat:
            if self._heartbeat:
                self._heartbeat.stop()
            self._heartbeat = self._make_heartbeat(settings)
            if self._heartbeat:
                self._heartbeat.start()
        if settings.check != old.check:
            self._checks.use(looking.group_checks(settings.check))
        self._roster.expect(settings.expected, settings.roster.silent_after)
        self._maintenance = MaintenancePlan(self._file, settings.plans, site.labels, now)
        self._scraper.use(settings.targets)
        watched = self._watched
        if (site, configured) != (watched.site, watched.configured):  # planning again takes time that evaluations need
            self.loop.judge_by(site, configured)
            watched.site, watched.configured = site, configured
        self._trials.use(settings)
        return Reloaded(now, tuple(settings.notify), restart)

    # These use the notifier of the latest settings.
    def _find_trouble(self, now: int) -> str | None:
        return self._notifier.trouble(now)

    def _say(self, title: str, body: str) -> None:
        self._notifier.say(title, body)

    def _record_step(self, now: int) -> None:
        self._watched.stepped.set()
        self._maintenance.step(now)
        if self._watch:
            self._watch.look(now)
        self._notifier.stepped(now)

    def _list_troubles(self) -> list[Problem]:
        """Return the problems of Plimsoll itself that somebody has to solve now."""
        return [
            *overview.list_troubles(
                self.loop.progress,
                self._writing.state,
                self._notifier,
                time.time_ns(),
                self._started,
                next((server.connections for server in self._servers), (0, 1)),
                self._checks.failing,
                self._setup.silent(),
                self._store.upkeep.damaged if self._store.upkeep else {},
                list_damaged_files(self._setup.folder),
            )
        ]

    def _compute_health(self) -> overview.Health:
        return overview.summarize_health(
            self._file,
            self.loop.progress,
            self._list_troubles(),
            self._writing.state,
            self._store.name,
            self._store.upkeep.size() if self._store.upkeep else None,
            now := time.time_ns(),
            self._election.status if self._election else "",
            self._scraper.problems(now),
            self._find_missing_metrics(now),
        )

    def _find_missing_metrics(self, now: int) -> Mapping[HostKey, Mapping[str, Resource]]:
        """Return, by host, the metrics that exporters never sent although other metrics of their group came.

        The result is computed at most once a minute.
        """
        if not 0 <= now - self._missing[0] < _LOOK_EVERY:
            metrics: dict[HostKey, dict[str, Resource]] = {}
            for translator in self._translators:
                with translator.lock:
                    for host, names in translator.missing(now).items():
                        metrics.setdefault(host, {}).update(names)
            self._missing = now, metrics
        return self._missing[1]

    def _collect(self) -> None:
        """Get the points of each source at the time of each evaluation (every 10 s), and write them in time for it.

        Each commit wakes disk and processor, so the points of several times are written together. Run until `plimsoll
        up` stops.
        """
        unwritten: list[Points] = []
        times_together = max(1, self._setup.delay // EVALUATION_INTERVAL)
        is_first = True
        while not self._stop.wait((EVALUATION_INTERVAL - time.time_ns() % EVALUATION_INTERVAL) / SECOND):
            now = time.time_ns()
            for source in (*self._setup.sources, self._checks.collect):
                try:
                    unwritten.append(source(now))
                except Exception:  # the others are to go on
                    _log.exception("collecting failed")
            if is_first or (now // EVALUATION_INTERVAL + 1) % times_together == 0:
                self._write_collected(unwritten)
                unwritten, is_first = [], False
        self._write_collected(unwritten)

    def _write_collected(self, unwritten: Sequence[Points]) -> None:
        try:
            if any(map(len, unwritten)):
                self._writing.put(join_points(unwritten)).result(_WRITTEN_WITHIN_S)
        except Busy:
            _log.warning("more samples wait to be written than are held: those of this computer are left out")
        except (NotWritten, TimeoutError) as error:
            _log.error("the samples of this computer cannot be written: %s", error)
        except Exception:  # collecting is to go on
            _log.exception("the samples of this computer cannot be written")

    def _make_forecasts(self) -> None:
        """Forecast every ten minutes when volumes will be full, and write the forecasts to the store."""
        (forecast, last), now = self._forecast, time.time_ns()
        if now - last >= EVERY or now < last:

            def check() -> None:
                if self._stop.is_set():
                    raise Stopped

            with suppress(Stopped, Busy):
                self._writing.put(forecast(now, check)).result(_WRITTEN_WITHIN_S)
                self._forecast = forecast, now

    def _delete_old(self) -> None:
        upkeep = self._store.upkeep
        while not self._stop.wait(_TIDY_S):
            try:
                self._make_forecasts()
                # By the clock only where it is plausible, as what is deleted is gone.
                while upkeep and (now := self.loop.clock.deletes_until) and upkeep.tidy(now):
                    if self._stop.is_set():
                        return
            except (Unreachable, Unusable, NotWritten, TimeoutError) as error:
                _log.error("the store cannot be tidied: %s", error)
            except Exception:  # the thread must go on
                _log.exception("tidying failed")


def _load_trusted_proxy(settings: ProxySettings | None) -> TrustedProxy | None:
    """Return the proxy at which people log in; None if the settings name none."""
    if settings is None:
        return None
    usual = Role(settings.role) if settings.role else None
    roles = RolesOf({Role(role): groups for role, groups in settings.roles.items()}, usual)
    secret = settings.secret.get_secret_value()
    return TrustedProxy(settings.addresses, settings.user, secret, roles, settings.groups, settings.separator)
