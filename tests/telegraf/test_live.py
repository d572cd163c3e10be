"""A host that a real Telegraf watches into a real InfluxDB or VictoriaMetrics, judged by `plimsoll review live:HOST`, and as what a server recorded."""

import json
import time

import pytest

from tests.conftest import VictoriaMetrics
from tests.telegraf.conftest import TELEGRAF

EVALUATED_EVERY_S = 10
# Every computer uses some of its disk, and none that runs the test uses all but a millionth.
SETTINGS = """\
[rules.linux-file-system-full]
healthy = ">= 99.9999 %"
over = "1s"
for = "0s"
reason = "a limit that every host crosses"

[rules.linux-inodes-critical]
healthy = "<= 99.9999 %"
over = "1s"
for = "0s"
reason = "a limit that no host crosses"
"""


@pytest.fixture(scope="module")
def victoriametrics(tmp_path_factory):
    with VictoriaMetrics(tmp_path_factory.mktemp("victoriametrics")) as result:
        yield result


@pytest.mark.parametrize("to", ["influxdb", "victoriametrics"])
def test_what_telegraf_writes_is_judged_live(to, collect, bucket, victoriametrics, plimsoll, monkeypatch, tmp_path):
    is_influxdb = to == "influxdb"
    url = bucket.url if is_influxdb else victoriametrics.url
    access = {"INFLUX_URL": url, "INFLUX_ORG": bucket.org, "INFLUX_BUCKET": bucket.bucket}
    begin = time.time()
    seconds = 5 + (-begin - 3) % EVALUATED_EVERY_S  # samples of three seconds at least before an evaluation
    sent = {**access, "INFLUX_TOKEN": bucket.telegraf_token}
    points, errors = collect(TELEGRAF / "linux.conf", seconds=seconds, variables=sent)
    assert "E! " not in errors
    host = points[0].tags["host"]
    used = [point.fields["used_percent"] for point in points if point.measurement == "disk"]

    if is_influxdb:
        for name, value in {**access, "INFLUX_TOKEN": bucket.token}.items():
            monkeypatch.setenv(name, value)
    else:
        victoriametrics.show()
    settings = tmp_path / "plimsoll.toml"
    settings.write_text(SETTINGS)
    start = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(begin))
    options = ("--config", settings, "--only", "linux", "--from", start, "--json", "-", "--fail-on", "warning")
    store = () if is_influxdb else ("--store", f"victoriametrics://{victoriametrics.address}")
    outcome = plimsoll("review", f"live:{host}", *options, *store)
    assert outcome.status == 1, outcome.err
    rules = json.loads(outcome.out)["rules"]
    worst = [
        rule["breaches"][0]["worst"] for rule in rules if rule["rule"] == "linux-file-system-full" and rule["breaches"]
    ]
    assert min(worst) == pytest.approx(100 - max(used), abs=0.1)
    assert {rule["state"] for rule in rules if rule["rule"] == "linux-inodes-critical"} == {"held"}
    server = f"influxdb://{url.partition('//')[2]}?bucket={bucket.bucket}&org={bucket.org}"
    recorded = server if is_influxdb else f"prometheus://{victoriametrics.address}"
    again = plimsoll("review", recorded, "--host", host.upper(), *options)
    assert json.loads(again.out)["rules"] == rules
