"""Alerts and hosts for pages to show, and the workers that review runs for them."""

import os

import pytest

from plimsoll.alerting.alerts_file import AlertsFile
from plimsoll.pages.review_jobs import jobs
from tests.pages.alerting import AlertData
from tests.pages.watching import Watching
from tests.serve.site import site

_START_WORKER = jobs._start_worker


@pytest.fixture(scope="session", autouse=True)
def workers_are_forked():
    """A worker begins with everything imported. A test that asks for `real_workers` has them start as for users."""
    if os.name == "nt":
        yield
        return
    from tests.pages.forked_worker import ForkedWorker

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(jobs, "_start_worker", ForkedWorker)
        yield


@pytest.fixture
def real_workers(monkeypatch):
    monkeypatch.setattr(jobs, "_start_worker", _START_WORKER)


@pytest.fixture
def alert_data(tmp_path):
    data = AlertData(tmp_path / "data")
    yield data
    data.file.close()


@pytest.fixture
def watching(tmp_path):
    file = AlertsFile(tmp_path / "watched.db")
    yield Watching(file)
    file.close()


@pytest.fixture
def served(watching, duckdb, tmp_path):
    with site(duckdb, tmp_path / "data", **watching.fields) as here:
        yield here
