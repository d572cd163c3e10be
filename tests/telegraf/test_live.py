"""A host that a real Telegraf watches into a real InfluxDB, judged live by `plimsoll review live:HOST`."""

import json
import time

import pytest

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


def test_what_telegraf_writes_into_influxdb_is_judged_live(collect, bucket, plimsoll, monkeypatch, tmp_path):
    access = {"INFLUX_URL": bucket.url, "INFLUX_ORG": bucket.org, "INFLUX_BUCKET": bucket.bucket}
    begin = time.time()
    seconds = 5 + (-begin - 3) % EVALUATED_EVERY_S  # samples of three seconds at least before an evaluation
    sent = {**access, "INFLUX_TOKEN": bucket.telegraf_token}
    points, errors = collect(TELEGRAF / "linux.conf", seconds=seconds, variables=sent)
    assert "E! " not in errors
    host = points[0].tags["host"]
    used = [point.fields["used_percent"] for point in points if point.measurement == "disk"]

    for name, value in {**access, "INFLUX_TOKEN": bucket.token}.items():
        monkeypatch.setenv(name, value)
    settings = tmp_path / "plimsoll.toml"
    settings.write_text(SETTINGS)
    start = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(begin))
    options = ("--config", settings, "--only", "linux", "--from", start, "--json", "-", "--fail-on", "warning")
    outcome = plimsoll("review", f"live:{host}", *options)
    assert outcome.status == 1, outcome.err
    rules = json.loads(outcome.out)["rules"]
    worst = [
        rule["breaches"][0]["worst"] for rule in rules if rule["rule"] == "linux-file-system-full" and rule["breaches"]
    ]
    assert min(worst) == pytest.approx(100 - max(used), abs=0.1)
    assert {rule["state"] for rule in rules if rule["rule"] == "linux-inodes-critical"} == {"held"}
