"""What the real sysstat records and prints of one recording: sar's tables and sadf's rows are the same samples."""

import os
import subprocess

import numpy as np
import pytest

from plimsoll.ingest.read import read_log


@pytest.fixture(scope="module")
def recording(installed, tmp_path_factory):
    """Record three samples of this machine, and return what prints them."""
    folder = tmp_path_factory.mktemp("sysstat")
    sar, sadf = installed("sar", "sysstat"), installed("sadf", "sysstat")
    subprocess.run([sar, "-A", "-o", folder / "sa", "1", "3"], check=True, capture_output=True)

    def read(name, command, **variables):
        environment = {**os.environ, "LC_ALL": "C", "TZ": "UTC", **variables}
        output = subprocess.run(command, check=True, capture_output=True, env=environment).stdout
        (folder / name).write_bytes(output)
        return read_log(folder / name)

    return lambda **variables: (
        read("sar.txt", [sar, "-A", "-f", folder / "sa"], **variables),
        read("sadf.csv", [sadf, "-d", folder / "sa", "--", "-A"]),
    )


@pytest.mark.parametrize("variables", [{}, {"S_TIME_FORMAT": "ISO"}])
def test_what_sar_prints_are_the_samples_that_sadf_writes(recording, variables):
    printed, written = recording(**variables)
    np.testing.assert_array_equal(printed.times, written.times)
    columns = {series.key: written.column(at) for at, series in enumerate(written.series)}
    assert {series.key for series in printed.series} == set(columns)
    for at, series in enumerate(printed.series):
        np.testing.assert_array_equal(printed.column(at), columns[series.key], err_msg=str(series.key))
