"""Scrapes Prometheus exporters at regular times, and writes their metrics."""

import logging
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from threading import Event, Lock, Thread
from typing import NamedTuple
from urllib.parse import urlsplit

import urllib3
from urllib3.exceptions import HTTPError

from plimsoll.model.http_connections import find_last_cause
from plimsoll.model.remark import format_count
from plimsoll.model.times import SECOND, format_duration
from plimsoll.receive.exporters.translate import AcceptedMetrics, NotMetrics, TooManySamples, Translator, strip_port
from plimsoll.receive.line_protocol.parse import Parser, TooMany
from plimsoll.receive.write_queue import Busy, NotWritten, WriteQueue
from plimsoll.rules.states import EVALUATION_INTERVAL

_SAMPLE = re.compile(
    rb"([a-zA-Z_:][a-zA-Z0-9_:]*)"
    rb'(?:[ \t]*\{((?:[^"{}]|"(?:[^"\\]|\\.)*+")*+)\})?'
    rb"[ \t]*(?<=[ \t}])([^ \t]+)(?:[ \t]+(-?[0-9]+))?[ \t]*"
)
_LABEL = re.compile(rb'[ \t]*([a-zA-Z_][a-zA-Z0-9_]*)[ \t]*=[ \t]*"((?:[^"\\]|\\.)*+)"[ \t]*(?:,|\Z)')
_ESCAPED = re.compile(r'\\([\\"n])')
_MS = 1_000_000
_LONGEST_SHOWN = 60


class Sample(NamedTuple):
    """A sample of an exporter: metric name, text of the labels, value, and time (UTC ns; None if not given)."""

    name: str
    labels_text: bytes
    value: float
    time: int | None

    @property
    def labels(self) -> dict[str, str]:
        """The labels by name. Raise NotMetrics if the text of the labels is malformed."""
        labels: dict[str, str] = {}
        at = 0
        while at < len(self.labels_text.rstrip(b" \t")):
            label = _LABEL.match(self.labels_text, at)
            if label is None:
                raise NotMetrics(f"{self.name}: its labels are not valid")
            labels[label[1].decode()] = _ESCAPED.sub(
                lambda match: "\n" if match[1] == "n" else match[1], label[2].decode("utf-8", "replace")
            )
            at = label.end()
        return labels


MOST_BYTES = 32 << 20
_AT_ONCE = 16
_WITHIN_S = 8.0  # less than the shortest interval
_WRITTEN_WITHIN_S = 60
_ACCEPT = "text/plain;version=0.0.4;q=1,*/*;q=0.1"
_NEW = 60 * SECOND
_MAX_NAMED = 5
_log = logging.getLogger(__name__)


class _Failed(Exception):
    """The error that a target gave no usable metrics; the text says why."""


@dataclass(frozen=True)
class ScrapeTarget:
    """An exporter to scrape: its URL, its interval (ns), and how to find the host of its metrics.

    `labels` are added to each metric and override the exporter's own. The host is the label `host`, else the label
    `host_label` of the metric or of another metric of the scrape, else the host in the URL. `authorization` is the
    value of the header Authorization, `ca` the file of trusted certificates.
    """

    url: str
    interval: int = EVALUATION_INTERVAL
    labels: Mapping[str, str] = field(default_factory=dict[str, str])
    host_label: str | None = None
    authorization: str = field(default="", repr=False)
    ca: str | None = None

    @property
    def host(self) -> str | None:
        """The host of the target's metrics; None if only the metrics name the host."""
        if self.labels.get("host"):
            return self.labels["host"]
        return None if self.host_label else strip_port(urlsplit(self.url).netloc.rpartition("@")[2])


@dataclass
class _State:
    running: bool = False
    failing_since: int = 0
    problem: str = ""


class Scraper:
    """Scrapes targets at multiples of their intervals. Answers that take longer than some seconds are dropped."""

    def __init__(
        self,
        targets: Sequence[ScrapeTarget],
        writing: WriteQueue,
        translator: Translator,
        parser: Parser,
        clock: Callable[[], int] = time.time_ns,
    ) -> None:
        self._writing = writing
        self._translator = translator
        self._parser = parser
        self._clock = clock
        self._states: dict[str, _State] = {}  # by address
        self._order: list[ScrapeTarget] = []
        self._lock = Lock()
        self._stop = Event()
        self._pool = ThreadPoolExecutor(_AT_ONCE, "scraper")
        self._pools: dict[str | None, urllib3.PoolManager] = {}
        self._thread = Thread(target=self._run, name="scraping", daemon=True)
        self.use(targets)

    def start(self) -> None:
        """Start the thread that scrapes."""
        self._thread.start()

    def stop(self) -> None:
        """Stop scraping, and wait for requests in progress."""
        self._stop.set()
        if self._thread.ident:
            self._thread.join()
        self._pool.shutdown(cancel_futures=True)

    def use(self, targets: Sequence[ScrapeTarget]) -> None:
        """Replace the targets to scrape."""
        with self._lock:
            self._order = [*targets]

    @property
    def hosts(self) -> tuple[str, ...]:
        """The hosts of the targets, except targets whose host only their metrics name."""
        with self._lock:
            return tuple(dict.fromkeys(target.host for target in self._order if target.host))

    def problems(self, now: int) -> list[str]:
        """Return a sentence on each target without metrics; beyond the first few, one with the number of the rest."""
        with self._lock:
            states = [(target.url, state) for target in self._order if (state := self._states.get(target.url))]
        sentences: list[str] = []
        for url, state in states:
            if state.problem:
                length = now - state.failing_since
                since = f" for {format_duration(length // _NEW * _NEW)}" if length >= _NEW else ""
                sentences.append(f"{url} gives no metrics{since}: {state.problem}.")
        if (rest := len(sentences) - _MAX_NAMED) > 0:
            sentences[_MAX_NAMED:] = [f"No metrics come from {format_count(rest, 'more target')}."]
        return sentences

    def step(self, now: int) -> None:
        """Start to scrape the targets that are due at `now` (UTC ns), without waiting for their answers."""
        evaluation = now // EVALUATION_INTERVAL
        with self._lock:
            due = [target for target in self._order if evaluation % max(1, target.interval // EVALUATION_INTERVAL) == 0]
            for target in due:
                state = self._states.setdefault(target.url, _State())
                if not state.running:
                    state.running = True
                    self._pool.submit(self._ask, target, state, evaluation * EVALUATION_INTERVAL)

    def _run(self) -> None:
        while not self._stop.wait((EVALUATION_INTERVAL - self._clock() % EVALUATION_INTERVAL) / SECOND):
            self.step(self._clock())

    def _ask(self, target: ScrapeTarget, state: _State, at: int) -> None:
        """Scrape a target and write its metrics; if that fails, log the problem and keep it in `state`."""
        problem = ""
        try:
            self._take(target, at)
        except _Failed as error:
            problem = str(error)
        except Busy:
            problem = "more samples wait to be written than are held"
        except (NotWritten, TimeoutError) as error:
            problem = f"its metrics cannot be written: {error}"
        except Exception as error:  # the other targets must still be scraped
            _log.exception("%s: scraping failed", target.url)
            problem = f"a defect of Plimsoll: {error!r}"
        if problem and not state.problem:
            state.failing_since = self._clock()
            _log.warning("%s: gives no metrics: %s", target.url, problem)
        elif state.problem and not problem:
            _log.warning("%s: gives metrics again", target.url)
        state.problem, state.running = problem, False

    def _take(self, target: ScrapeTarget, at: int) -> None:
        """Scrape a target and write its metrics. Raise _Failed if it gives no usable metrics."""
        text = self._fetch(target)
        try:
            taken = read(text, target, self._translator, at)
            parsed = self._parser.parse(taken.lines, now=at, writer=target.url)
        except NotMetrics as error:
            raise _Failed(str(error)) from None
        except (TooManySamples, TooMany):
            raise _Failed("it has too many metrics") from None
        self._writing.put(parsed.points, target.url).result(_WRITTEN_WITHIN_S)
        self._writing.unread(taken.unread, taken.names)
        if parsed.refused.first:
            raise _Failed(parsed.refused.first[0][2])
        if not taken.samples:
            raise _Failed("it has no metrics")
        if not taken.lines:
            raise _Failed("it has none of the metrics that are judged; is it node_exporter or windows_exporter?")

    def _fetch(self, target: ScrapeTarget) -> bytes:
        """Return the body of a target's answer. Raise _Failed unless it is complete and has status 200."""
        with self._lock:
            pools = self._pools.get(target.ca)
            if pools is None:
                timeout = urllib3.Timeout(total=_WITHIN_S)
                pools = urllib3.PoolManager(1000, ca_certs=target.ca, maxsize=1, timeout=timeout, retries=False)
                self._pools[target.ca] = pools
        headers = {"Accept": _ACCEPT, "Accept-Encoding": "gzip", "User-Agent": "Plimsoll"}
        if target.authorization:
            headers["Authorization"] = target.authorization
        until = time.monotonic() + _WITHIN_S
        body, answer = bytearray(), None
        try:
            answer = pools.request("GET", target.url, headers=headers, redirect=False, preload_content=False)
            while piece := answer.read(1 << 16, decode_content=True):
                body += piece
                if len(body) > MOST_BYTES:
                    raise _Failed(f"it answers more than {MOST_BYTES >> 20} MB")
                if time.monotonic() > until:
                    raise _Failed(f"it does not answer within {_WITHIN_S:.0f} s")
            if answer.status != 200:
                raise _Failed(f"it answers with status {answer.status}")
        except (HTTPError, OSError) as error:
            raise _Failed(find_last_cause(error)) from None
        finally:
            if answer is not None:
                answer.close() if len(body) > MOST_BYTES or time.monotonic() > until else answer.release_conn()
        return bytes(body)


def read(text: bytes, target: ScrapeTarget, translator: Translator, at: int) -> AcceptedMetrics:
    """Return the samples in a target's answer; `at` (UTC ns) is the time of samples without a time of their own.

    Raise NotMetrics if the answer is malformed, or TooManySamples.
    """
    scraped = [*parse_samples(text)]
    host = target.host or ""
    if target.host_label and not host:
        # Cheap check before reading labels.
        label, sign = target.host_label, f'{target.host_label}="'.encode()
        named = (sample.labels.get(label) for sample in scraped if sign in sample.labels_text)
        host = next(filter(None, named), strip_port(urlsplit(target.url).netloc))
    taken = AcceptedMetrics(translator, at)
    for sample in scraped:
        if sample.name not in taken.metric_names:
            taken.leave_out(sample.name, 1)
            continue
        taken.add(
            (target.url, host, sample.name, sample.labels_text),
            lambda sample=sample: _name_series(sample, target, host),
            [(at if sample.time is None else sample.time, sample.value)],
        )
    taken.finish()
    return taken


def _name_series(sample: Sample, target: ScrapeTarget, host: str) -> tuple[str, dict[str, str], str]:
    labels = sample.labels
    named = labels.get(target.host_label, "") if target.host_label and not target.labels.get("host") else ""
    return sample.name, {**labels, **target.labels}, named or host


def parse_samples(text: bytes) -> Iterator[Sample]:
    """Yield the samples of a text in the Prometheus exposition format. Raise NotMetrics if the text is malformed."""
    for number, written in enumerate(text.split(b"\n"), 1):
        line = written.strip(b" \t\r")
        if not line or line.startswith(b"#"):
            continue
        match = _SAMPLE.fullmatch(line)
        try:
            if match is None:
                raise ValueError
            name, labels, value, time = match.groups()
            yield Sample(name.decode(), labels or b"", float(value), int(time) * _MS if time else None)
        except ValueError:
            shown = line[:_LONGEST_SHOWN].decode("utf-8", "backslashreplace")
            raise NotMetrics(f'line {number} is no metric of Prometheus: "{shown}"') from None
