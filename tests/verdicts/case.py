"""Cases from `cases/*.yaml`, their recordings, and what Plimsoll says of them. README.md describes the files."""

import re
from dataclasses import dataclass, field
from functools import cache
from itertools import chain, pairwise, product
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
import yaml

from plimsoll.api.inputs import Inputs
from plimsoll.api.review import ReviewSettings, review_inputs
from plimsoll.hosts.settings import Settings
from plimsoll.ingest.reading import LogSet
from plimsoll.insights.insights import Insights
from plimsoll.model.errors import Unusable
from plimsoll.model.samples import Samples
from plimsoll.model.styled import join_lines
from plimsoll.model.times import SECOND, Zone
from plimsoll.receive.exporters.scrape import ScrapeTarget, read
from plimsoll.receive.exporters.translate import Translator
from plimsoll.receive.line_protocol.parse import Parser
from plimsoll.report.terminal_summary import format_lines
from plimsoll.review.review_logs import review_logs
from plimsoll.rules.load import load
from plimsoll.store.logs import read_live_logs
from plimsoll.store.protocol import FoundSeries

from . import writers
from .signals import draw

FOLDER = Path(__file__).parent / "cases"
START = 1_790_000_000  # s since 1970
_LIVE = ("telegraf", "node")
_OPTIONS = re.compile(r"\{([^{}=]*)\}")


class Request(NamedTuple):
    """A request of a load driver; times in ms."""

    at: int
    took: int
    name: str
    good: bool
    code: int
    users: int
    group: str

    def fields(self):
        """Return what lines of results are made of."""
        end, good = self.at + self.took, str(self.good).lower()
        iso = writers.when(end / 1000).isoformat()
        return self._asdict() | {"end": end, "end_iso": iso, "good": good, "ok": "OK" if self.good else "KO"}


@dataclass(frozen=True)
class Case:
    """A recording, the verdict that is right for it, the words that must be said with it, and why."""

    family: str
    name: str
    expect: str
    why: str
    log: dict[str, Any]
    names: list[str] = field(default_factory=list)
    never: list[str] = field(default_factory=list)
    source: str = ""

    @property
    def rng(self):
        """The noise of the case, the same each time."""
        return np.random.default_rng(crc32(f"{self.family}/{self.name}".encode()))


@cache
def families():
    """Return the cases of each family."""
    bases = yaml.safe_load((FOLDER / "bases.yaml").read_text("utf-8"))
    return {
        family.pop("family"): _cases(path.stem, family, bases)
        for path in sorted(FOLDER.glob("*.yaml"))
        if path.stem != "bases"
        for family in yaml.safe_load_all(path.read_text("utf-8"))
    }


def _cases(stem, family, bases):
    cases = []
    for case in [*family.pop("cases", ()), *chain.from_iterable(map(_of_limit, family.pop("limits", ())))]:
        result: dict[str, Any] = {
            key: case.pop(key) for key in ("name", "expect", "why", "names", "never", "source") if key in case
        }
        cases.append(Case(stem, log=_log(family, case, bases), **result))
    return cases


def _of_limit(limit):
    """Yield a case in which a signal is past its limit from minute 8 on, and one in which it is so for two minutes."""
    signals, well, sick = limit["signals"], limit["well"], limit["sick"]
    rest = {"names": limit.get("names", [])}
    text = sick if limit.get("whole") else f"{well}; 8.. = {sick}"
    yield {
        "name": limit["name"],
        "expect": "not-healthy",
        "why": limit["why"],
        "signals": dict.fromkeys(signals, text),
        **rest,
    }
    if limit.get("brief", True):
        name, why = f"{limit['name']} for two minutes", "It lasts for less than the limit asks for."
        yield {
            "name": name,
            "expect": "healthy",
            "why": why,
            "signals": dict.fromkeys(signals, f"{well}; 15..17 = {sick}"),
        }


def _log(family, case, bases):
    """Return the settings of a log: those of the family, those of the case, and the signals of both and of the bases."""
    log = {"format": "pdh", "host": "SRV01", "minutes": 40, "interval": 15} | family | case
    signals = {}
    for part in (*(bases[name] for name in log.get("bases", ())), family.get("signals", {}), case.get("signals", {})):
        for name, text in part.items():
            signals |= dict.fromkeys(_expanded(name), text)
    without = [re.compile(pattern) for pattern in log.get("without", ())]
    log["signals"] = {
        name: text
        for name, text in signals.items()
        if text is not None and not any(item.search(name) for item in without)
    }
    log["also"] = [_log({}, other, bases) for other in log.get("also", ())]
    return log


def _expanded(name):
    """Return the names that `{0..3}` and `{a,b}` stand for; braces of labels hold `=`."""
    parts = _OPTIONS.split(name)
    options = [_options(part) if at % 2 else [part] for at, part in enumerate(parts)]
    return ["".join(chosen) for chosen in product(*options)]


def _options(text):
    ranges = [part.partition("..") for part in text.split(",")]
    return [str(at) for low, dots, high in ranges for at in (range(int(low), int(high) + 1) if dots else [low])]


def minutes_of(log):
    """Return the minutes of a log at which it was recorded."""
    intervals = log["interval"] if isinstance(log["interval"], dict) else {0: log["interval"]}
    ends = [*intervals, log["minutes"]]
    minutes = np.concatenate(
        [np.arange(start, end, intervals[start] / 60) for start, end in pairwise(ends)] or [np.zeros(1)]
    ) + log.get("begins", 0)
    for gap in log.get("gaps", ()):
        start, end = map(float, gap.split(".."))
        minutes = minutes[(minutes < start) | (minutes >= end)]
    return minutes


def columns_of(log, rng):
    """Return the times of a log in seconds, and its columns."""
    minutes = minutes_of(log)
    columns = {name: text if text == "rest" else draw(text, minutes, rng) for name, text in log["signals"].items()}
    for name in (name for name, text in log["signals"].items() if text == "rest"):
        of_device = re.split(r"[^| ]+$", name)[0]
        result: Any = [values for other, values in columns.items() if other != name and other.startswith(of_device)]
        columns[name] = np.clip(100 - np.sum(result, axis=0), 0, 100)
    return START + 60 * minutes, columns


def requests_of(driver, rng):
    """Return the requests of a load driver and its users each second."""
    seconds = np.arange(0, 60 * driver["minutes"])
    rate, users, took, failed = (
        draw(driver.get(name, default), seconds / 60, rng)
        for name, default in (("rate", 2), ("users", "10 ~0"), ("ms", 200), ("failed", 0))
    )
    begin = 1000 * (START + 60 * driver.get("begins", 0))
    operations = driver.get("operations", ["Home"])
    requests = []
    for second in seconds[rate > 0] if (rate > 0).any() else []:
        for _ in range(rng.poisson(rate[second])):
            name = operations[int(rng.integers(len(operations)))]
            share = failed[second] if name in driver.get("failing", operations) else 0
            good = bool(rng.random() * 100 >= share)
            at = int(begin + 1000 * second + rng.integers(1000))
            length = max(1, int(took[second] * rng.gamma(4, 0.25)))
            group = driver.get("group", "Users")
            requests.append(Request(at, length, name, good, 200 if good else 500, max(1, int(users[second])), group))
    counted = [(int(begin + 1000 * second), int(users[second])) for second in seconds]
    return sorted(requests, key=lambda item: item.at), counted


def write(case, folder):
    """Write the recordings of a case that lie in files, and plimsoll.toml."""
    rng = case.rng
    for at, log in enumerate((case.log, *case.log["also"])):
        if log["signals"]:
            times, columns = columns_of(log, rng)
            restarts = [START + 60 * minute for minute in log.get("restarts", ())]
            text = getattr(writers, log["format"])(log["host"], times, columns, restarts=restarts)
            if log.get("zoneless"):
                text = text.replace(" (UTC)(0)", "")
            (folder / f"{at}-{log['host']}.csv").write_text(text, encoding="utf-8", newline="")
        for number, driver in enumerate(log.get("drivers", ())):
            requests, users = requests_of({"minutes": log["minutes"]} | driver, rng)
            is_locust = driver["format"] == "locust"
            text = writers.locust(requests, users) if is_locust else writers.driver(driver["format"], requests, users)
            for old, new in driver.get("replace", ()):
                text = text.replace(old, new, 1)
            (folder / f"{at}-results-{number}").write_text(text, encoding="utf-8", newline="")
    if "settings" in case.log:
        (folder / "plimsoll.toml").write_text(case.log["settings"], encoding="utf-8")


def _sent(case):
    """Return the logs of what was sent to a running Plimsoll."""
    times, columns = columns_of(case.log, case.rng)
    text, host = getattr(writers, case.log["format"])(case.log["host"], times, columns).encode(), case.log["host"]
    now, parser = (int(times[-1]) + 1) * SECOND, Parser()
    if case.log["format"] == "node":
        translator, target = Translator(load().signals), ScrapeTarget("http://node:9100", labels={"host": host})
        scrapes = zip(times, text.split(b"# TIME\n")[1:], strict=True)
        text = b"\n".join(read(scrape, target, translator, round(time * SECOND)).lines for time, scrape in scrapes)
    points: Any = parser.parse(text, now=now).points
    at = {id(series): number for number, series in enumerate(points.series)}
    rows = [points.which == number for number in at.values()]
    sent: Any = SimpleNamespace(
        series=lambda *_: FoundSeries([*points.series], 0),
        read=lambda named, *_: [
            Samples(*(part[rows[at[id(series)]]] for part in (points.times, points.values))) for series in named
        ],
    )
    return LogSet(*read_live_logs(sent, 0, now, (), Zone.parse("UTC")), apart=True)


def judge(case, folder):
    """Return what is known of the recordings of a case."""
    if case.log["format"] in _LIVE:
        return Insights(review_logs(_sent(case), load(), Settings(), None, in_operation=True))
    write(case, folder)
    return Insights(review_inputs(Inputs((str(folder),)), ReviewSettings()))


def first_screen(insights):
    """Return the verdict, and what is said on the first screen."""
    review = insights.review
    return str(review.verdict), join_lines(format_lines(insights, review.zone))


def judged(case, folder):
    """Return the verdict on a case, what is said first, and all that is known."""
    try:
        insights = judge(case, folder)
    except Unusable as error:
        return "refused", str(error), None
    return *first_screen(insights), insights
