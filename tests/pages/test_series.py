"""The signals over a series of runs: small charts, and since which run one is another."""

import re

import numpy as np
import pytest

from plimsoll.ingest.convert.write_pdh import WallClock, write_pdh
from plimsoll.model.times import SECOND
from plimsoll.pages.review_jobs.kept_reviews import (
    KeptMean,
    KeptMeans,
    KeptReview,
    KeptReviews,
    ReviewOrigin,
    review_id,
)
from plimsoll.store.duck.duck_store import open_embedded
from tests.pages.browsing import NARROW, WIDE, opened
from tests.serve.site import site
from tests.simulated import START, ar1
from tests.stored_runs import store_run

HOST, CPU, SEARCHES, MEMORY = "DC01", "cpu.busy", "ad.ldap_searches", "memory.available"
RUNS, CHANGED = 12, 8


def a_log(folder, night):
    rng = np.random.default_rng(night)
    columns = {
        r"\\DC01\Processor(_Total)\% Processor Time": 46 * (1 + ar1(rng, 60, deviation=0.1)),
        r"\\DC01\Memory\Available Bytes": 4e9 * (1 + ar1(rng, 60, deviation=0.02)),
    }
    times = START + night * 86_400 * SECOND + np.arange(60, dtype=np.int64) * 10 * SECOND
    (folder / f"{night}").mkdir()
    write_pdh(folder / f"{night}" / "log.csv", WallClock("UTC", 0), times, list(columns.items()))
    return folder / f"{night}"


def keep_review(reviews, run, night):
    """A review as a worker leaves it: its processor time rose by an eighth with the ninth night."""
    rng = np.random.default_rng(night)
    cpu = (46.0 if night >= CHANGED else 41.0) * np.exp(0.01 * rng.standard_normal())
    memory = 4e9 * np.exp(0.01 * rng.standard_normal())
    means = [
        KeptMean(signal=name, host=HOST, instance=None, service=False, mean=mean)
        for name, mean in ((CPU, cpu), (MEMORY, memory))
    ]
    kept = KeptReview(
        run=run.name,
        made_with=ReviewOrigin(version="0", rules="", at=0),
        verdict="healthy",
        severity="",
        word="Healthy",
        answer="",
        crossed=(),
    )
    kept_means = KeptMeans(run=run.name, start=run.start, means=tuple(means), load=None)
    reviews.save(review_id(run), "<html></html>", "{}", kept_means, kept)


@pytest.fixture(scope="module")
def nights(tmp_path_factory):
    """A server with a run of each night, of which the last is not reviewed yet, and another run."""
    folder = tmp_path_factory.mktemp("nights")
    for name in ("logs", "data"):
        (folder / name).mkdir()
    store = open_embedded(folder / "plimsoll.duckdb")
    for night in range(RUNS):
        log = a_log(folder / "logs", night)
        store_run(store, log, f"night {night}", {"test": "logon", "build": f"b{night // 6}"})
    reviews = KeptReviews(folder / "data")
    for run in store.runs.summaries():
        if (night := int(run.name.removeprefix("night "))) < RUNS - 1:
            keep_review(reviews, run, night)
    with site(store, folder / "data") as here:
        yield here
    store.close()


def test_each_signal_over_the_runs_and_since_which_run_it_changed(nights, chromium):
    for width, scheme in ((WIDE, "light"), (NARROW, "dark")):
        with opened(chromium, f"{nights.address}/runs", width=width, scheme=scheme) as view:
            view.page.click("text=Signals over the runs")
            view.page.locator("h2", has_text="Became worse.").wait_for()
            view.page.locator("#listed [role=status]").wait_for(state="detached")
            charts = view.page.locator("figure").all()
            assert [chart.locator("h3").inner_text() for chart in charts] == [
                "Processor time of DC01",
                "Available memory of DC01",
            ]
            inner_text = charts[0].inner_text()
            assert re.search(r"Worse since night [789]: rose from 4[01].* % to 4[567]", inner_text)
            assert [chart.locator("circle").count() for chart in charts] == [RUNS, RUNS]
            assert [chart.locator(".mark").count() for chart in charts] == [1, 0]
            assert view.faults() == []
