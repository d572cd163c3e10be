"""openldap.conf: a real Telegraf watches a real OpenLDAP server that works."""

import json
import re
import urllib.parse
import urllib.request
from pathlib import Path

from plimsoll.rules.load import load_signals
from plimsoll.rules.signal_finder import Finder
from plimsoll.rules.subjects import find_subject

TELEGRAF = Path(__file__).parents[2] / "telegraf"
MEASUREMENTS = ("openldap", "ldap_probe")
# openldap's names without reverse_metric_names, as older configurations have them.
NOT_REVERSED = re.compile(r".*_operations_completed|current_connections|bytes_statistics")


def influxql_of(bucket, queries):
    """What InfluxDB answers to InfluxQL, a result for each query."""
    parameters = urllib.parse.urlencode({"db": bucket.bucket, "q": ";".join(queries)})
    request = urllib.request.Request(
        f"{bucket.url}/query?{parameters}", headers={"Authorization": f"Token {bucket.token}"}
    )
    with urllib.request.urlopen(request, timeout=300) as answer:
        return json.load(answer)["results"]


def test_every_ldap_signal_has_data(collect, configuration, slapd):
    with slapd.load():
        points, outcome = collect(TELEGRAF / "linux.conf", configuration, seconds=7)
    assert "E! [inputs" not in outcome
    samples = {}
    for point in points:
        for series, value in point.series().items():
            samples.setdefault(series, []).append(value)
    signals = load_signals()
    finder = Finder(signals, list(samples), lambda series: len(samples[series]) > 1)
    sources = [
        (name, source)
        for name, signal in signals.items()
        for source in signal.sources
        if source.measurement in MEASUREMENTS and not NOT_REVERSED.fullmatch(str(source.field))
    ]
    assert {source.measurement for _, source in sources} == set(MEASUREMENTS)
    for name, source in sources:
        result = [
            sample for sample in samples if (sample.measurement, sample.field) == (source.measurement, source.field)
        ]
        assert len(result) == 1, name
        assert find_subject(source, result[0])
        values = samples[result[0]]
        # Some of a tick or two may be missing at either end; growing counts must have grown under the load.
        assert len(values) >= 4, name
        assert values[-1] > values[0] if source.rate else min(values) > 0, name
    hosts = {subject.host for name, _ in sources for subject, _ in finder.find(name).values()}
    assert hosts == {point.tags["host"] for point in points if point.measurement == "cpu"}
    assert finder.find("ldap.connect_excess")
    probes = [point for point in points if point.measurement == "ldap_probe"]
    assert all(point.fields["success"] == 1 and point.fields["entries"] == 1 for point in probes)


def test_host_and_directory_meet_in_influxdb(collect, configuration, slapd, bucket):
    """What two configurations collect arrives under the names signals have, with a token that may only write."""
    sent = {
        "INFLUX_URL": bucket.url,
        "INFLUX_TOKEN": bucket.telegraf_token,
        "INFLUX_ORG": bucket.org,
        "INFLUX_BUCKET": bucket.bucket,
    }
    with slapd.load():
        points, outcome = collect(TELEGRAF / "linux.conf", configuration, seconds=6, variables=sent)
    assert "E! " not in outcome
    # Latencies are there only where there were requests, perhaps in the last point, which a flush may miss.
    rows = {(point.measurement, field) for point in points for field in point.fields if not field.endswith("_await")}
    assert {"cpu", "kernel", "diskio", "net", "openldap", "ldap_probe"} <= {measurement for measurement, _ in rows}
    host = points[0].tags["host"]
    queries = {item: f'SELECT count("{item[1]}") FROM "{item[0]}" WHERE "host" = \'{host}\'' for item in sorted(rows)}
    answer = influxql_of(bucket, queries.values())
    assert [query for query, result in zip(queries, answer, strict=True) if "series" not in result] == []


def test_a_server_that_is_down_is_told_and_the_rest_goes_on(collect, configuration, slapd):
    slapd.stop()
    points, result = collect(TELEGRAF / "linux.conf", configuration, seconds=5)
    probes = [point for point in points if point.measurement == "ldap_probe"]
    assert probes
    assert all(set(point.fields) == {"failed", "success", "result_code"} for point in probes)
    assert "E! [inputs.execd] LDAP probe of 127.0.0.1" in result
    assert "E! [inputs.openldap]" in result
    assert {"cpu", "kernel"} <= {point.measurement for point in points}
    assert slapd.password not in result


def test_a_wrong_password_leaks_nowhere(collect, configuration, slapd):
    secret = "Staberhuk-45"
    wrong = {"LDAP_MONITOR_PASSWORD": secret, "LDAP_BIND_PASSWORD": secret}
    points, result = collect(TELEGRAF / "linux.conf", configuration, seconds=4, variables=wrong)
    probes = [point for point in points if point.measurement == "ldap_probe"]
    assert probes
    assert {point.fields["result_code"] for point in probes} == {49}
    assert secret not in f"{points}{result}"
