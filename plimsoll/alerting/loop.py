"""The alert loop: performs due evaluations, saves them in the alert history, and watches the hosts."""

import logging
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from threading import Event, Lock

from plimsoll.alerting import actions
from plimsoll.alerting.alert_history import AlertHistory, read_last_evaluation
from plimsoll.alerting.alerts_file import NotKept
from plimsoll.alerting.clock_skew import ClockSkew
from plimsoll.alerting.duplicate_hosts import DuplicateHosts
from plimsoll.alerting.evaluator import Evaluator, list_evaluation_times
from plimsoll.alerting.health import Progress
from plimsoll.alerting.host_inventory import HostInventory, LastSample, read_retirements
from plimsoll.alerting.late_samples import LateSamples
from plimsoll.alerting.latest_evaluation import LatestEvaluation
from plimsoll.alerting.machine_clock import MachineClock
from plimsoll.alerting.rule_targets import Key, Site
from plimsoll.alerting.self_monitoring import Problem, SelfMonitoring
from plimsoll.alerting.series_index import MOST_HOSTS, Stopped
from plimsoll.alerting.state_changes import StateChange
from plimsoll.alerting.usual_values import find_usual_values
from plimsoll.hosts.facts import ConfiguredFacts
from plimsoll.model.errors import Unreachable, Unusable
from plimsoll.model.log import Times
from plimsoll.model.points import Points
from plimsoll.model.series import make_host_key
from plimsoll.model.times import SECOND, Zone, format_duration
from plimsoll.rules.states import EVALUATION_INTERVAL, State
from plimsoll.rules.subjects import find_host, list_host_tags
from plimsoll.store.protocol import SampleReader

DELAY = 30 * SECOND  # an evaluation at e is performed at e + DELAY, so that samples on their way are in
_HOUR = 3600 * SECOND
_QUIET_LAG = 60 * SECOND  # evaluations later than this are caught up: only alerts that still fire are notified
_MOST_CAUGHT_UP = 24 * _HOUR
_CHUNK = 360  # evaluations at once while catching up
_TICK_S = 1.0
_AT_ONCE = 3  # evaluations, while nothing changes
_MOST_USUAL = 10  # alerts of an evaluation whose usual values are read
_UTC = Zone.parse("UTC")
_log = logging.getLogger(__name__)


class AlertLoop:
    """The loop that evaluates the rules on the live samples of a store.

    Call `perform` about every second, and `written` with each batch of samples; both take the time (UTC ns), so that
    tests can simulate it. The loop calls `processes` for the top processes of hosts at an evaluation (a line each),
    `troubles` for the problems of Plimsoll itself, and `on_step` after evaluations, with their time. `local_hosts`
    returns the hosts whose samples get their times from this machine. Hours of the week are those of `zone`.
    """

    def __init__(
        self,
        store: SampleReader,
        site: Site,
        configured: ConfiguredFacts,
        history: AlertHistory,
        inventory: HostInventory,
        *,
        delay: int = DELAY,
        processes: Callable[[int, Iterable[str]], Mapping[str, Sequence[str]]] = lambda *_: {},
        troubles: Callable[[], Sequence[Problem]] = lambda: (),
        on_step: Callable[[int], None] = lambda _: None,
        most_hosts: int = MOST_HOSTS,
        local_hosts: Callable[[], Collection[str]] = tuple,
        zone: Zone = _UTC,
    ) -> None:
        self._store = store
        self._site = site
        self._facts = configured
        self._history = history
        self._inventory = inventory
        self._delay = delay
        self._processes = processes
        self._troubles = troubles
        self._on_step = on_step
        self._most_hosts = most_hosts
        self._zone = zone
        self._stop = Event()
        self._self_monitoring = SelfMonitoring(history.file)
        self._skew = ClockSkew(list_host_tags(site.catalogue.signals))
        self._duplicates = DuplicateHosts(
            site.catalogue.signals, lambda series: find_host(series, list_host_tags(site.catalogue.signals))
        )
        self.clock = MachineClock(history.file, self._skew, local_hosts)
        self._late_samples = LateSamples(store, history, self._skew, self._check)
        self._evaluator: Evaluator | None = None
        self._last: int | None = None
        self._reading: int | None = None  # the evaluation whose samples are being read, or were
        self._changed = False  # whether the last evaluation changed the state of a limit
        self._last_samples: dict[str, LastSample] = {}
        self._lock = Lock()
        self._fresh: tuple[Site, ConfiguredFacts] | None = None
        self.progress = Progress()
        self.judged = LatestEvaluation()

    def run(self, stop: Event) -> None:
        """Perform the due evaluations until `stop` is set. An interrupted evaluation is repeated at the next start."""
        self._stop = stop
        while not stop.wait(self._find_pause(time.time_ns())):
            if self._is_time(now := time.time_ns()):
                self.perform(now)

    def _find_pause(self, now: int) -> float:
        """Return the time (s) until the next evaluation may be due; a second while other work waits."""
        if self._evaluator is None or self.progress.problem or self._late_samples.are_waiting:
            return _TICK_S
        return (EVALUATION_INTERVAL - (now - self._delay) % EVALUATION_INTERVAL) / SECOND

    def _is_time(self, now: int) -> bool:
        """Return whether to evaluate: at each evaluation, or every third while no state changes and none is pending.

        Three together cost little more than one. Late samples are amended meanwhile, a host at a time.
        """
        number = (now - self._delay) // EVALUATION_INTERVAL
        if self._evaluator is not None and not (self._fresh or self.progress.problem or self._late_samples.are_waiting):
            is_quiet = not self._changed and not self._evaluator.states.pending()
            apart = number - (self._last or 0) // EVALUATION_INTERVAL
            return apart < 0 or apart >= (_AT_ONCE if is_quiet else 1)
        return True

    @property
    def last(self) -> int | None:
        """The last saved evaluation (UTC ns), also while the loop catches up; None before the first evaluation."""
        return self._last

    def written(self, points: Points, now: int) -> None:
        """Note samples that came after their evaluation, hosts with wrong clocks, and duplicate hosts."""
        self._skew.written(points, now)
        self._duplicates.written(points, now)
        if self._reading is not None:  # what comes during an evaluation may come after its samples were read
            self._late_samples.written(points, self._reading)

    def judge_by(self, site: Site, configured: ConfiguredFacts) -> None:
        """Apply new settings from the next evaluation on. Firing alerts continue."""
        with self._lock:
            self._fresh = site, configured

    def perform(self, now: int) -> None:
        """Perform all due evaluations. A failure is logged, shown as the problem, and tried again."""
        with self._lock:
            fresh, self._fresh = self._fresh, None
        if fresh is not None:
            (self._site, self._facts), self._evaluator = fresh, None
            self._inventory.forget_resources()
        try:
            self._self_monitoring.step(self._troubles(), now)
            self._evaluate(now)
            if self._evaluator and self._last is not None:
                self._late_samples.amend(self._evaluator, self._site, self._facts, self._last, now)
        except Stopped:
            self._evaluator = None
        except (Unreachable, Unusable, NotKept) as error:
            self._report_failure(str(error))
            self._evaluator = None  # the evaluation may not have been saved: begin again after the last saved one
        except Exception as error:  # the loop must go on, and report the defect
            _log.exception("the alert loop failed")
            self._report_failure(f"a defect of Plimsoll: {type(error).__name__}: {error}")
            self._evaluator = None

    def _evaluate(self, now: int) -> None:
        """Perform the due evaluations, amend alerts by late samples, and update the host inventory."""
        due = (now - self._delay) // EVALUATION_INTERVAL * EVALUATION_INTERVAL
        if self._evaluator is None:
            self._last = read_last_evaluation(self._history.file)
        if doubt := self.clock.doubt(self._last, due, now):
            self._report_failure(doubt)
            return
        if self._last is not None and self._last > due:
            self._return_to(due - EVALUATION_INTERVAL)
        is_start = self._evaluator is None
        evaluator = self._evaluator or self._start(due)
        last = due - _HOUR if self._last is None else self._last
        if due - last > _MOST_CAUGHT_UP:
            _log.warning("nothing was judged for %s: the last 24 h are caught up", format_duration(due - last))
            last = due - _MOST_CAUGHT_UP
        at = list_evaluation_times(last, due)
        if not len(at):
            return
        if is_start:
            self.progress = replace(self.progress, begun=now)
        begun = time.perf_counter()
        is_quiet = is_start or int(at[-1] - at[0]) > _QUIET_LAG
        for first in range(0, len(at), _CHUNK):
            self._step(evaluator, at[first : first + _CHUNK], now, is_quiet=is_quiet)
        if is_quiet:
            self._history.caught_up()
        behind = self._skew.behind(now)
        for host, (_, newest) in behind.items():
            if host not in self._last_samples or newest > self._last_samples[host].newest:
                self._last_samples[host] = LastSample(newest)
        sent = self._skew.last_sent(now)
        self._last_samples = {
            host: replace(sample, newest=min(sample.newest, sent.get(make_host_key(host), sample.newest)))
            for host, sample in self._last_samples.items()
        }
        # At the time of the evaluation, as samples after it have not been read.
        ahead = self._skew.ahead(now)
        self._inventory.step(self._last_samples, int(at[-1]), self._skew.reasons(now), ahead)
        self.progress = Progress(
            int(at[-1]),
            now,
            time.perf_counter() - begun,
            judged=evaluator.states.judged(),
            pending=evaluator.states.pending(),
            lacking=evaluator.unknown_facts,
            impossible=evaluator.states.impossible(),
            ahead=ahead,
            behind={host: by for host, (by, _) in behind.items()},
            left_out=len(evaluator.index.left_out),
            beyond=evaluator.beyond,
            resources=evaluator.states.judged_resources(),
            required=self._site.judge,
            missing=evaluator.missing,
            duplicates=self._duplicates.hosts(now),
            unsent=self._inventory.unsent(evaluator.states.newest, self._last_samples, int(at[-1])),
        )
        self.judged = evaluator.states.now()
        self._on_step(now)

    def _return_to(self, at: int) -> None:
        """Make `at` (UTC ns) the last evaluation, although a wrong clock led to evaluations at later times."""
        self._history.return_to(at)
        self._last, self._reading, self._evaluator, self._last_samples = at, None, None, {}
        self._late_samples = LateSamples(self._store, self._history, self._skew, self._check)
        self._inventory.forget_resources()

    def _start(self, due: int) -> Evaluator:
        """Create the evaluator from the saved statuses; end, at `due`, alerts of rules that are judged no longer."""
        actions.save_rule_ids(self._history.file, self._site.catalogue.rules)
        self._history.keep_only(self._site.is_judged, due, now=due)
        self._evaluator = Evaluator(
            self._store,
            self._site,
            self._facts,
            self._history.statuses(),
            most_hosts=self._most_hosts,
            oldest=self._inventory.oldest_first(),
            check=self._check,
        )
        return self._evaluator

    def _check(self) -> None:
        if self._stop.is_set():
            raise Stopped

    def _step(self, evaluator: Evaluator, at: Times, now: int, *, is_quiet: bool) -> None:
        """Evaluate, and save the outcome."""
        gone = read_retirements(self._history.file)
        evaluator.states.retire(frozenset(gone) | self._duplicates.hosts(now).keys())
        self._reading = int(at[-1])
        step = evaluator.advance(at)
        self._changed = bool(step.changes)
        fired = {change.subject.host for change in step.changes if change.after == State.FIRING}
        lost = self._history.step(
            step.at,
            step.changes,
            step.statuses,
            now=now,
            readings=step.readings,
            processes={} if is_quiet else self._processes(step.at, fired),
            usual={} if is_quiet else self._find_usual(step.changes, evaluator),
            quiet=is_quiet,
        )
        evaluator.states.forget(lost)
        self._last = step.at
        tags = list_host_tags(self._site.catalogue.signals)
        for host, newest in step.heard.items():
            left = gone.get(make_host_key(host))
            if left is not None:
                # `newest` is the evaluation; the samples themselves may be older than the retirement.
                since = self._store.series(left + 1, step.at).series if newest > left else ()
                if make_host_key(host) not in {make_host_key(find_host(series, tags)) for series in since}:
                    continue
            self._last_samples[host] = LastSample(newest, evaluator.interval(host))

    def _find_usual(self, changes: Iterable[StateChange], evaluator: Evaluator) -> Mapping[Key, str]:
        """Return the usual values, as texts, of the first rules that fired."""
        fired = [change for change in changes if change.after == State.FIRING and change.rule.severity != "info"]
        texts: dict[Key, str] = {}
        for change in fired[:_MOST_USUAL]:
            source = evaluator.source(change)
            usual = source and find_usual_values(self._store, source, change.at, change.at + 1, self._zone)
            if usual:
                texts[change.key] = usual.text(self._site.catalogue.signals[change.rule.signal].unit)
        return texts

    def _report_failure(self, problem: str) -> None:
        if problem != self.progress.problem:
            _log.error("cannot judge: %s", problem)
        self.progress = replace(self.progress, problem=problem, begun=None)
