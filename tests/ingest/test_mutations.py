"""A damaged log ends in a Log with remarks or in a refusal of one line: never a traceback, never silence."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from mutate import mutated

from plimsoll.ingest.read import read_log
from plimsoll.model.errors import Unusable

LOGS = [
    path.read_bytes()
    for path in sorted((Path(__file__).parent / "cases").glob("*/*/input.*"))
    if path.parent.parent.name != "none"
]


def read(path, data):
    path.write_bytes(data)
    refused = ""
    try:
        log = read_log(path)
    except Unusable as error:
        log, refused = None, str(error)
    if log is None:
        assert refused.isprintable()
        assert 20 < len(refused) < 600
        return
    assert (np.diff(log.times) >= 0).all()
    for column in log.columns:
        assert not np.isinf(column).any()
    for remark in log.remarks:
        assert str(remark).isprintable()


@pytest.mark.parametrize("part", range(8))
def test_seeded_damage(tmp_path, part):
    for seed in range(part * 100, part * 100 + 100):
        read(tmp_path / "log.csv", mutated(seed, LOGS[seed % len(LOGS)]))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.one_of(st.binary(max_size=300), st.text(max_size=300).map(str.encode)))
@example(data=b'"(PDH-CSV 4.0) (UTC)(0)","\\\\H\\O\\C"\n"' + b"x" * 200_000)
@example(data=b'"(PDH-CSV 4.0) (UTC)(0)","\\\\H\\O\\C' + b"x" * 200_000)
@example(data=b'"(PDH-CSV 4.0) (UTC)(0)"' + b',"\\\\H\\O\\C"' * 3 + b"\r" * 1000)
def test_anything_after_a_header(tmp_path, data):
    read(tmp_path / "log.csv", data)
    read(tmp_path / "log.csv", b'"(PDH-CSV 4.0) (UTC)(0)","\\\\H\\System\\Threads"\r\n' + data)
