"""The worker process: reads, reviews and stores a run without delaying the alerts of `plimsoll up`.

It reads a pickled task from stdin, ends when the server closes stdin, and reports its progress on stdout: a JSON
object with changed fields of Job per line.
"""

import json
import os
import pickle
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from threading import Thread
from typing import Any

import psutil
from pydantic import BaseModel

from plimsoll.comparison.compare import Comparison, RunSide
from plimsoll.comparison.signal_settings import check_settings
from plimsoll.comparison.trend import RunMeans
from plimsoll.hosts import settings
from plimsoll.hosts.run_to_store import run_to_store
from plimsoll.ingest.read import LogFile, NothingRead, read_files
from plimsoll.ingest.reading import LogSet, ReadOptions
from plimsoll.ingest.runs.load import Overlapping, ZoneUnknown, find, load
from plimsoll.ingest.runs.read_run import read_run
from plimsoll.ingest.shared.zones import find_windows_zone
from plimsoll.insights.capacity.find import compute_capacity
from plimsoll.insights.capacity.json import build_document as capacity_json
from plimsoll.insights.insights import Insights
from plimsoll.model.errors import Unreachable, Unusable
from plimsoll.model.remark import Remark
from plimsoll.model.run import StoredRun
from plimsoll.model.times import Zone
from plimsoll.pages.review_jobs.jobs import Task, ToCompare, ToReview, Upload
from plimsoll.pages.review_jobs.kept_reviews import Crossed, KeptMeans, KeptReview, KeptReviews, ReviewOrigin, review_id
from plimsoll.pages.shared.form_words import replace_all_options_by_fields, replace_options_by_fields
from plimsoll.report.comparison import comparison_page as comparison_html
from plimsoll.report.comparison import json_document as comparison_json
from plimsoll.report.first_screen import build_first_screen
from plimsoll.report.html.render import render
from plimsoll.report.json import ReviewDocument
from plimsoll.review.findings import CROSSED
from plimsoll.review.review import Review
from plimsoll.review.review_logs import review_logs
from plimsoll.review.sentences import describe_breach
from plimsoll.review.verdict import Verdict
from plimsoll.rules.load import Catalogue
from plimsoll.rules.wording import SEVERITIES
from plimsoll.serve.credentials import load_owner_token
from plimsoll.store.remote import make_remote_store
from plimsoll.store.store import Store
from plimsoll.up import running

_NICE = 10
_FIRST_TO_END = "1000"
_REPORT_INTERVAL_S = 0.3
_MOST_REMARKS = 200
_HINTS: Mapping[type[Exception], str] = {
    ZoneUnknown: "Upload it again, and fill in its time zone.",
    Overlapping: "If its time zone is right, upload it again with the check mark at "
    "“Load over data of the same hosts and time”.",
}
Say = Callable[..., None]


def main() -> None:
    """Perform the task on stdin, and report its progress, or why it failed, on stdout."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server handles Ctrl-C, and ends this process
    task: Task = pickle.load(sys.stdin.buffer)
    Thread(target=_end_with_server, daemon=True).start()
    # Leave the processors to `plimsoll up`, and be the first process to be killed if memory runs out.
    psutil.Process().nice(psutil.BELOW_NORMAL_PRIORITY_CLASS if sys.platform == "win32" else _NICE)
    if sys.platform == "linux":
        with suppress(OSError):
            Path("/proc/self/oom_score_adj").write_text(_FIRST_TO_END, "ascii")
    out = sys.stdout

    def say(**report: Any) -> None:
        print(json.dumps(replace_all_options_by_fields(report)), file=out, flush=True)

    try:
        perform_task(task, say)
    except NothingRead as error:
        say(error="There is no log in it that can be read.", remarks=_list_texts(error.remarks))
    except (Unusable, Unreachable) as error:
        say(error=str(error))


def perform_task(task: Task, say: Say) -> None:
    """Perform a task. `say` is called with changed fields of the Job. Raise Unreachable if the server has ended."""
    say(stage="reading")
    data = task.setup.data
    server = running.find(data)
    if server is None:
        raise Unreachable("plimsoll up does not run any more")
    store, reviews = make_remote_store(server.address, load_owner_token(data), server.check_listens), KeptReviews(data)
    try:
        match task:
            case ToReview():
                _review(task, store, reviews, say)
            case ToCompare():
                _compare(task, store, reviews, say)
    finally:
        store.close()


def _review(task: ToReview, store: Store, reviews: KeptReviews, say: Say) -> None:
    """Read and review a run, store the review, and store the run if it was uploaded."""
    logs, run = _read_uploaded(task.upload, say) if task.upload else _read_stored(store, task.run)
    remarks = [*(remark for log in logs.logs for remark in log.remarks), *logs.remarks]
    say(stage="reviewing", done=0, total=0, remarks=_list_texts(remarks))
    review, _ = _review_run(logs, run, task.setup.catalogue)
    insights = Insights(review)
    text = _encode_document(ReviewDocument.model_validate(insights))
    means = KeptMeans.of(RunMeans.of(task.run, review))
    reviews.save(
        task.review, replace_options_by_fields(render(insights)), text, means, _summarize(insights, task.setup.rules)
    )
    say(reviewed=task.review)
    if task.upload:
        _save_run(store, reviews, task, task.upload, logs, run, say)


def _summarize(insights: Insights, rules: str) -> KeptReview:
    """Return the summary of a review. `rules` is the hash of the rules that made the review."""
    review = insights.review
    crossed = tuple(_list_crossed(review))
    severities = {signal.severity for signal in crossed}
    severe = review.verdict == Verdict.NOT_HEALTHY
    return KeptReview(
        run=review.run.name or "",
        made_with=ReviewOrigin(version=version("plimsoll"), rules=rules, at=time.time_ns()),
        verdict=review.verdict.value,
        severity=next((name for name in SEVERITIES if severe and name in severities), ""),
        word=review.word.removesuffix("."),
        answer=review.answer,
        crossed=crossed,
        cause=build_first_screen(insights).cause,
    )


def _list_crossed(review: Review) -> Iterator[Crossed]:
    """Yield each crossed signal of a host or instance with its worst finding, the worst first."""
    seen_keys: set[object] = set()
    for finding in review.of(*CROSSED):
        subject = finding.subject
        if subject is None or finding.superseded_by or (key := (finding.rule.signal, subject.key)) in seen_keys:
            continue
        seen_keys.add(key)
        yield Crossed(
            signal=finding.rule.signal,
            title=finding.signal.title,
            host=subject.host,
            instance=subject.instance,
            severity=finding.rule.severity,
            sentence=describe_breach(finding),
        )


def _compare(task: ToCompare, store: Store, reviews: KeptReviews, say: Say) -> None:
    """Review stored runs, compare them with the first run or find their capacity, and store the result."""
    read: list[tuple[Review, settings.Settings]] = []
    for number, name in enumerate(task.runs):
        say(stage="reading", done=number, total=len(task.runs))
        read.append(_review_run(*_read_stored(store, name), task.setup.catalogue))
    say(stage="comparing", done=0, total=0)
    if task.capacity:
        document = capacity_json(compute_capacity([review for review, _ in read]))
        reviews.save_report(
            task.comparison, "", json.dumps(replace_all_options_by_fields(document), ensure_ascii=False)
        )
        say(reviewed=task.comparison)
        return
    baseline, *sides = (
        RunSide(name, name, Insights(review)) for name, (review, _) in zip(task.runs, read, strict=True)
    )
    treatments = check_settings(read[0][1].compare, Path(settings.FILE_NAME), task.setup.catalogue.signals)
    comparisons = [Comparison(baseline, other, treatments) for other in sides]
    text = _encode_document(comparison_json.build_document(comparisons))
    reviews.save_report(task.comparison, replace_options_by_fields(comparison_html.render(comparisons)), text)
    say(reviewed=task.comparison)


def _encode_document(document: BaseModel) -> str:
    """Return a document as JSON. Options of commands in its messages are replaced by labels of form fields."""
    return json.dumps(
        replace_all_options_by_fields(json.loads(document.model_dump_json(by_alias=True))), ensure_ascii=False
    )


def _review_run(logs: LogSet, run: StoredRun, catalogue: Catalogue) -> tuple[Review, settings.Settings]:
    """Return the review of a run by the plimsoll.toml that is stored with the run, and the settings in that file."""
    path = Path(settings.FILE_NAME)
    parsed = settings.parse(run.settings or "", path)
    return review_logs(logs, catalogue, parsed, path if run.settings else None), parsed


def _read_uploaded(upload: Upload, say: Say) -> tuple[LogSet, StoredRun]:
    """Read uploaded logs. If there are several files, a file that is not a log becomes a remark."""
    paths = {upload.folder / str(number): name for number, name in enumerate(upload.names)}
    config = next((path for path, name in paths.items() if name == settings.FILE_NAME), None)
    zone = find_windows_zone(upload.zone) or Zone.parse(upload.zone) if upload.zone else None
    names = {path: name for path, name in paths.items() if path != config}
    several = len(names) > 1
    files = [LogFile(path, several, name) for path, name in names.items()]
    logs = read_files(
        files, ReadOptions(zone), whole=several, progress=lambda done: say(stage="reading", done=done, total=len(files))
    )
    logs.refuse_empty()
    try:
        run = run_to_store(logs, upload.run, dict(upload.labels), config, zone)
    except Unusable as error:
        raise Unusable(str(error).replace(str(config), settings.FILE_NAME) if config else str(error)) from None
    return logs._replace(run=run), run


def _read_stored(store: Store, name: str) -> tuple[LogSet, StoredRun]:
    logs = read_run(store.runs, name)
    assert logs.run is not None
    return logs, logs.run


def _save_run(
    store: Store, reviews: KeptReviews, task: ToReview, upload: Upload, logs: LogSet, run: StoredRun, say: Say
) -> None:
    """Store a run, and rename its review to the run's id. If the run is refused, the review keeps the upload's id."""
    last_report = time.monotonic()

    def progress(done: int) -> None:
        nonlocal last_report
        if time.monotonic() - last_report >= _REPORT_INTERVAL_S:
            last_report = time.monotonic()
            say(stage="storing", done=done, total=run.values)

    say(stage="storing", done=0, total=run.values)
    try:
        loaded = load(store, run, logs.logs, merge=upload.merge, progress=progress)
    except (Unusable, Unreachable) as error:
        hint = next((hint for kind, hint in _HINTS.items() if isinstance(error, kind)), "")
        say(refused=str(error), hint=hint)
        return
    listed = find(store.runs, run.name)
    if listed:
        reviews.rename(task.review, review_id(listed))
        say(reviewed=review_id(listed))
    stored = f"{run.values:,} values are in the store."
    if loaded.refused:
        stored = f"{loaded.refused:,} points were refused by the store, so the run is not whole."
    elif not loaded.values and loaded.before:
        stored = f"All {run.values:,} values were in the store already."
    say(stored=stored, storing_remarks=_list_texts(loaded.remarks))


def _list_texts(remarks: Sequence[Remark]) -> list[str]:
    texts = [f"{remark.kind.value}: {remark}" for remark in remarks[:_MOST_REMARKS]]
    left_out = len(remarks) - len(texts)
    return [*texts, f"and {left_out:,} more, which the report lists"] if left_out else texts


def _end_with_server() -> None:
    while os.read(0, 1):
        pass
    os._exit(1)


if __name__ == "__main__":
    main()
