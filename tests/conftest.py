"""What tests in several rooms share."""

import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from plimsoll import cli

REAL_LOGS = Path(__file__).parents[2] / "shared" / "logs"


class Outcome(NamedTuple):
    """What a command came to."""

    status: int
    out: str
    err: str


@pytest.fixture
def plimsoll(capsys, monkeypatch):
    """Calls the command line as a user would, in this process."""

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["plimsoll", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        return Outcome(int(ended.value.code or 0), out, err)

    return call


@pytest.fixture
def real_logs():
    """The folder of real logs that lies beside the project where it is built."""
    if not REAL_LOGS.is_dir():
        pytest.skip("real logs are not here: ../shared/logs")
    return REAL_LOGS
