"""The real servers that tests run against."""

import json
import subprocess

import pytest
import urllib3

from tests.conftest import built
from tests.servers.programs import PROGRAMS


def test_a_bucket_is_empty_and_alone(influxdb, bucket):
    assert bucket.url == influxdb.url
    assert bucket.bucket != influxdb.bucket
    assert bucket.fresh().bucket != bucket.bucket
    assert len({bucket.token, bucket.telegraf_token, bucket.grafana_token, bucket.admin_token}) == 4


def test_the_influxql_parser_tells_what_does_not_parse(influxql):
    good, bad = influxql(['SELECT mean("a") FROM "b" WHERE time > 5', "SELEC x"])
    assert good is None
    assert "expected SELECT" in bad


def test_windows_telegraf_refuses_an_option_it_does_not_know(telegraf_windows, tmp_path):
    configuration = tmp_path / "windows.conf"
    configuration.write_text("[[inputs.win_perf_counters]]\n  UseWildcardExpansion = true\n[[outputs.discard]]\n")
    done = telegraf_windows(configuration)
    assert done.returncode == 1
    assert "UseWildcardExpansion" in done.stdout
    configuration.write_text("[[inputs.win_perf_counters]]\n  UseWildcardsExpansion = true\n[[outputs.discard]]\n")
    done = telegraf_windows(configuration)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    "name", ["vmalert", "vmalert-tool", "vmagent", "vmauth", "victoria-metrics", "promtool", "otelcol"]
)
def test_each_says_the_version_that_it_was_built_from(name):
    completed = subprocess.run([built(name), "--version"], capture_output=True, text=True, check=True)
    assert f"{PROGRAMS[name].version}" in completed.stdout + completed.stderr


def test_victoriametrics_takes_what_telegraf_writes_and_names_it_by_measurement_and_field(victoriametrics):
    line = b"cpu,host=app01,cpu=cpu-total usage_idle=12.5 1700000000000000000\n"
    assert urllib3.request("POST", f"{victoriametrics}/write", body=line).status == 204
    urllib3.request("GET", f"{victoriametrics}/internal/force_flush")
    fields = {"query": 'cpu_usage_idle{host="app01"}', "time": "1700000000"}
    answer = json.loads(urllib3.request("GET", f"{victoriametrics}/api/v1/query", fields=fields).data)
    (result,) = answer["data"]["result"]
    assert result["metric"] == {"__name__": "cpu_usage_idle", "cpu": "cpu-total", "host": "app01"}
    assert result["value"][1] == "12.5"
