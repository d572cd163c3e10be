"""Alerts for pages to show."""

import pytest

from tests.pages.alerting import Told


@pytest.fixture
def told(tmp_path):
    made = Told(tmp_path / "data")
    yield made
    made.file.close()
