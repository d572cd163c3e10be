"""Records this machine by several recorders side by side, and prints each one's means of signals and crossed limits.

`python -m bench.recorders [--seconds 120]`, on Linux: our collector, Telegraf with telegraf/linux.conf (built by
`python -m tests.servers.build telegraf`), node_exporter, and sysstat's sadc. Recorders that are not installed are
left out. `--write` writes the output to bench/recorders.md, which docs/build.py makes a part of docs/compatibility.md.
Signals that are 0 throughout are left out, so load the machine meanwhile; most limits need six minutes.
"""

import argparse
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import polars as pl
import urllib3

from plimsoll.collect.collector import Collector
from plimsoll.hosts.settings import Settings
from plimsoll.ingest.read import read_log
from plimsoll.ingest.reading import LogSet, ReadOptions
from plimsoll.model.log import Log
from plimsoll.model.points import Points, join_points
from plimsoll.model.samples import Samples
from plimsoll.model.series import Series
from plimsoll.model.times import SECOND, Zone
from plimsoll.receive.exporters.scrape import ScrapeTarget, read
from plimsoll.receive.exporters.translate import Translator
from plimsoll.receive.line_protocol.parse import Parser
from plimsoll.review.findings import CROSSED, JUDGED
from plimsoll.review.recorded_signals import compute_signal_samples
from plimsoll.review.review_logs import review_logs
from plimsoll.rules.load import load
from plimsoll.rules.signal_finder import Finder
from tests.servers.programs import TELEGRAF

STEP_S = 5
WARM_UP_S = 60  # averages of a minute that are computed from totals begin then
APART = 0.03  # of the mean: a larger difference that sampling does not explain is marked
ROOT = Path(__file__).parents[1]
SADC = Path("/usr/lib/sysstat/sadc")
EXPORTER = "prometheus-node-exporter"
PORT = 19_917
Recorded = dict[Series, Samples]
Mean = tuple[float, float]


def recorded(points: Points) -> Recorded:
    """Return the samples of points by series."""
    points = points.last_of_each
    rows = {series: np.flatnonzero(points.which == at) for at, series in enumerate(points.series)}
    return {series: Samples(points.times[at], points.values[at]) for series, at in rows.items()}


def means(value: Recorded) -> dict[tuple[str, str], Mean]:
    """Return the mean of each signal of a host and its standard error, by signal and instance, after the warm-up."""
    signals = load().signals
    times = np.concatenate([samples.times for samples in value.values()])
    begin, end = int(times.min()) + WARM_UP_S * SECOND, int(times.max())
    finder = Finder(signals, list(value), lambda _: True)
    pairs = (
        (name, subject, compute_signal_samples(origin, value.__getitem__, where_shared=True))
        for name, signal in signals.items()
        if not signal.fact
        for subject, origin in finder.find(name).values()
    )
    return {
        (name, subject.instance or ""): (float(np.mean(values)), float(np.std(values)) / len(values) ** 0.5)
        for name, subject, samples in pairs
        if samples is not None and len(values := samples.between(begin, end).present.values)
    }


def outcomes(value: Recorded) -> dict[tuple[str, str], str]:
    """Return the outcome of each limit above a note that a review judges, by rule and instance."""
    times = np.unique(np.concatenate([samples.times for samples in value.values()]))
    columns = [np.full(len(times), np.nan) for _ in value]
    for column, samples in zip(columns, value.values(), strict=True):
        column[times.searchsorted(samples.times)] = samples.values
    log = Log(Path("recorded"), "", times, tuple(columns), tuple(value), Zone.parse("UTC"), sha256="")
    review = review_logs(LogSet([log], []), load(), Settings(), None, in_operation=True)
    return {
        (finding.rule.id, finding.subject.instance or ""): finding.outcome
        for finding in review.findings
        if finding.subject and finding.rule.severity != "info" and finding.outcome in JUDGED
    }


def polled(seconds: int, ask: Callable[[int], Points]) -> Points:
    """Return the points of a source that is asked every STEP_S seconds of the clock."""
    parts: list[Points] = []
    end = time.time() + seconds
    while time.time() < end:
        time.sleep(STEP_S - time.time() % STEP_S + 0.01)  # none wakes a little before its time
        parts.append(ask(time.time_ns()))
    return join_points(parts)


def trial(seconds: int, folder: Path) -> Iterator[tuple[str, Recorded]]:
    """Record with all recorders at once; yield the name and the samples of each."""
    telegraf, exporter = TELEGRAF.path, shutil.which(EXPORTER)
    processes: list[subprocess.Popen[bytes]] = []
    lines, binary = folder / "telegraf.lp", folder / "sa"

    def start(*command: str | Path, **variables: str) -> None:
        quiet, env = subprocess.DEVNULL, {**os.environ, **variables}
        processes.append(subprocess.Popen(command, env=env, stdout=quiet, stderr=quiet))

    if telegraf.is_file():
        (folder / "out.conf").write_text(f'[[outputs.file]]\n  files = ["{lines}"]\n', "utf-8")
        text = (ROOT / "telegraf" / "linux.conf").read_text("utf-8")
        (folder / "linux.conf").write_text(text.replace('interval = "10s"', f'interval = "{STEP_S}s"', 1), "utf-8")
        files = ["--config", folder / "linux.conf", "--config", folder / "out.conf", "--output-filter", "file"]
        start(telegraf, *files, INFLUX_URL="http://127.0.0.1:9", INFLUX_TOKEN="-")
    if exporter:
        start(exporter, f"--web.listen-address=127.0.0.1:{PORT}")
    if SADC.is_file():
        time.sleep(STEP_S - time.time() % STEP_S)
        start(SADC, "-S", "XALL", str(STEP_S), str(seconds // STEP_S + 1), binary)
    collector, translator, parser = Collector("here"), Translator(load().signals), Parser()
    target = ScrapeTarget(f"http://127.0.0.1:{PORT}/metrics", labels={"host": "here"})
    scraped: list[Points] = []

    def ask(now: int) -> Points:
        if exporter:
            text = urllib3.request("GET", target.url, retries=False, timeout=STEP_S).data
            scraped.append(parser.parse(read(text, target, translator, now).lines, now=now).points)
        return collector.collect(now)

    try:
        collected = polled(seconds, ask)
    finally:
        for process in processes:
            process.terminate()
            process.wait()
    yield "collector", recorded(collected)
    if telegraf.is_file():
        yield "Telegraf", recorded(parser.parse(lines.read_bytes(), now=time.time_ns()).points)
    if exporter:
        yield "node_exporter", recorded(join_points(scraped))
    if SADC.is_file():
        text = subprocess.run(["sadf", "-d", binary, "--", "-A"], capture_output=True, check=True).stdout
        (folder / "sa.csv").write_bytes(text)
        log = read_log(folder / "sa.csv", ReadOptions())
        columns = (Samples(log.times, pl.Series(column).to_numpy()) for column in log.columns)
        yield "sadc", dict(zip(log.series, columns, strict=True))


def table(value: dict[str, dict[tuple[str, str], Mean]]) -> Iterator[str]:
    """Yield the lines of a table in Markdown: the signals that two recorders have or more."""
    yield f"| signal | {' | '.join(value)} | apart |"
    yield "|---" * (len(value) + 2) + "|"
    for key in sorted({key for values in value.values() for key in values}):
        measured = [of[key] for of in value.values() if key in of]
        values, errors = (np.array(part) for part in zip(*measured, strict=True))
        if len(values) > 1 and values.any():
            middle, apart = abs(values.mean()), np.ptp(values)
            differs = apart > max(APART * middle, 2 * float(np.hypot.reduce(errors)))
            cells = [f"{of[key][0]:.4g}" if key in of else "" for of in value.values()]
            shown = f"{apart / middle:.1%}" + " **\\***" * bool(differs)
            yield f"| {' '.join(key).strip()} | {' | '.join(cells)} | {shown} |"


def limits(value: dict[str, dict[tuple[str, str], str]]) -> Iterator[str]:
    """Yield the lines of a table in Markdown: the limits that were crossed by one recorder or more."""
    yield f"| limit | {' | '.join(value)} |"
    yield "|---" * (len(value) + 1) + "|"
    for key in sorted({key for of in value.values() for key, outcome in of.items() if outcome in CROSSED}):
        yield f"| {' '.join(key).strip()} | {' | '.join(of.get(key, '') for of in value.values())} |"


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the trial, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=120, choices=range(90, 1201), metavar="90..1200")
    parser.add_argument("--write", action="store_true", help="write bench/recorders.md")
    options = parser.parse_args(arguments)
    seconds = options.seconds
    with tempfile.TemporaryDirectory() as folder:
        samples = dict(trial(seconds, Path(folder)))
    tables = (
        table({name: means(of) for name, of in samples.items()}),
        limits({name: outcomes(of) for name, of in samples.items()}),
    )
    text = "\n\n".join("\n".join(lines) for lines in tables)
    print(text)
    if options.write:
        (ROOT / "bench" / "recorders.md").write_text(f"{text}\n", "utf-8")


if __name__ == "__main__":
    main()
