"""An InfluxDB that others filled: names that were changed, and several agents that write one host."""

import json

import pytest
import urllib3

NAMES = "measurements: {linux_cpu: cpu}\ntags: {server: host, core: cpu}\nfields: {idle: usage_idle}\n"
START = 1_790_000_000


@pytest.fixture
def write(bucket):
    """Write lines a second for 20 minutes, made by `line(i)`."""

    def written(*lines):
        body = "\n".join(f"{line} {START + at}000000000" for at in range(0, 1200, 10) for line in lines)
        url = f"{bucket.url}/api/v2/write?bucket={bucket.bucket}&org={bucket.org}"
        headers = {"Authorization": f"Token {bucket.admin_token}"}
        assert urllib3.request("POST", url, body=body, headers=headers).status == 204

    return written


@pytest.fixture
def shown(bucket, plimsoll, monkeypatch):
    """What `show --json` says of the bucket, with these options."""

    def asked(*options):
        monkeypatch.setenv("INFLUX_URL", bucket.url)
        monkeypatch.setenv("INFLUX_TOKEN", bucket.token)
        server = f"influxdb://{bucket.url.partition('//')[2]}?bucket={bucket.bucket}&org={bucket.org}"
        outcome = plimsoll("show", server, "--from", "2026-09-21", "--to", "2026-09-22", *options, "--json", "-")
        assert outcome.status == 0, outcome.err
        return json.loads(outcome.out)[0]

    return asked


def test_measurements_tags_and_fields_are_read_under_telegrafs_names(write, shown, tmp_path):
    write("linux_cpu,server=web01,host=poller,core=cpu-total idle=12.5")
    names = tmp_path / "names.yaml"
    names.write_text(NAMES)
    log = shown("--names", names, "--host", "WEB01")
    assert (log["hosts"], log["values"]) == (["web01"], 120)
    assert [(item["object"], item["counters"]) for item in log["objects"]] == [("cpu", ["usage_idle"])]


def test_a_host_that_two_agents_write_is_remarked(write, shown):
    write(*(f"cpu,host=web01,cpu=cpu-total,agent={agent} usage_idle={idle}" for agent, idle in (("a", 50), ("b", 51))))
    remarks = [remark["text"] for remark in shown()["remarks"]]
    assert "cpu of web01 is written 2 times, with the tags agent=a, agent=b: the first counts" in remarks


def test_the_first_of_two_agents_is_judged(write, bucket, plimsoll, monkeypatch):
    write("mem,host=web01 total=1000")
    write(
        *(f"cpu,host=web01,cpu=cpu-total,agent={agent} usage_steal={steal}" for agent, steal in (("a", 1), ("b", 60)))
    )
    monkeypatch.setenv("INFLUX_URL", bucket.url)
    monkeypatch.setenv("INFLUX_TOKEN", bucket.token)
    server = f"influxdb://{bucket.url.partition('//')[2]}?bucket={bucket.bucket}&org={bucket.org}"
    options = ("--from", "2026-09-21", "--to", "2026-09-22", "--json", "-")
    rules = json.loads(plimsoll("review", server, *options).out)["rules"]
    (stolen,) = [rule for rule in rules if rule["rule"] == "linux-steal"]
    assert stolen["state"] == "held"


def test_a_host_that_one_agent_writes_is_not(write, shown):
    write(*(f"cpu,host=web01,cpu=cpu{at},rack=r1 usage_idle=50" for at in range(2)))
    assert not any("times, with the tags" in remark["text"] for remark in shown()["remarks"])
