"""A Python for Windows as a service, under Wine's service manager."""

import json
from pathlib import Path

import pytest

from tests.conftest import lacking
from tests.windows import python

HERE = Path(__file__).parent


@pytest.mark.parametrize(("status", "error"), [(0, "0"), (2, "1066")])
def test_a_service_starts_reads_anew_and_ends_as_it_is_told(tmp_path, status, error):
    if lacks := python.missing():
        lacking("Python for Windows under Wine", lacks)
    done = python.run(HERE / "manage_service.py", f"Z:{tmp_path / 'told.txt'}", str(status))
    assert done.returncode == 0, done.stdout
    started, ended, result = json.loads(done.stdout.splitlines()[-1])
    assert (started["STATE"], started["TYPE"]) == ("4", "10"), "it runs, in a process of its own"
    assert (ended["STATE"], ended["WIN32_EXIT_CODE"], ended["SERVICE_EXIT_CODE"]) == ("1", error, str(status))
    assert result == ["runs", "reads anew", "ends", ""]
