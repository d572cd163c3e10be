"""Alerts and hosts for pages to show."""

import pytest

from plimsoll.alerting.book.database import AlertsFile
from tests.pages.alerting import Told
from tests.pages.watching import Watching
from tests.serve.site import site


@pytest.fixture
def told(tmp_path):
    made = Told(tmp_path / "data")
    yield made
    made.file.close()


@pytest.fixture
def watching(tmp_path):
    file = AlertsFile(tmp_path / "watched.db")
    yield Watching(file)
    file.close()


@pytest.fixture
def served(watching, duckdb, tmp_path):
    with site(duckdb, tmp_path / "data", **watching.fields) as here:
        yield here
