"""A host that a real Telegraf watches into a real InfluxDB, judged live by `plimsoll review live:HOST`."""

import json
import time

from tests.telegraf.conftest import TELEGRAF

EVALUATED_EVERY_S = 10
# Every computer uses more than a thousandth of its memory, and none that runs the test uses all but a millionth.
SETTINGS = """\
[rules.linux-memory-available]
healthy = ">= 99.9 %"
over = "1s"
for = "0s"
reason = "a limit that every host crosses"

[rules.linux-memory-available-critical]
healthy = ">= 0.0001 %"
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
    shares = [point.fields["available_percent"] for point in points if point.measurement == "mem"]

    for name, value in {**access, "INFLUX_TOKEN": bucket.token}.items():
        monkeypatch.setenv(name, value)
    settings = tmp_path / "plimsoll.toml"
    settings.write_text(SETTINGS)
    start = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(begin))
    options = ("--config", settings, "--only", "linux", "--from", start, "--json", "-", "--fail-on", "warning")
    outcome = plimsoll("review", f"live:{host}", *options)
    assert outcome.status == 1, outcome.err
    rules = {rule["rule"]: rule for rule in json.loads(outcome.out)["rules"]}
    crossed = rules["linux-memory-available"]
    assert crossed["state"] == "crossed"
    assert min(shares) * 0.9999 <= crossed["breaches"][0]["worst"] <= max(shares) * 1.0001
    assert rules["linux-memory-available-critical"]["state"] == "held"
