"""What a load driver saw stands beside the counters of hosts: it is the load, and no host that must be judged."""

from pathlib import Path

import plimsoll

HOUR_MS = 1_705_312_200_000
EXAMPLE = Path(__file__).parents[2] / "examples" / "windows-today"


def _jtl(path, start_ms, seconds):
    head = "timeStamp,elapsed,label,responseCode,responseMessage,threadName,success,allThreads\n"
    rows = (f"{start_ms + at * 250},120,page,200,OK,T 1,true,20\n" for at in range(seconds * 4))
    path.write_text(head + "".join(rows), encoding="utf-8")
    return path


def test_a_healthy_run_stays_healthy_beside_its_load_driver(tmp_path):
    folder = EXAMPLE / "healthy"
    alone = plimsoll.review(folder).review
    logs = sorted(one for one in folder.iterdir() if one.suffix != ".toml")
    # The driver begins later and ends earlier than what was recorded of the host.
    driver = _jtl(tmp_path / "results.jtl", (alone.start or 0) // 10**6 + 120_000, 900)
    both = plimsoll.review(*logs, driver, config=folder / "plimsoll.toml").review
    assert alone.verdict == both.verdict == "healthy"
    assert {one.subject.host for one in both.findings if one.subject} == set(alone.hosts)
    assert "client.requests" in [one.name for one in both.loads]
    assert "client.requests" not in [one.name for one in alone.loads]


def test_alone_it_is_not_healthy(tmp_path):
    review = plimsoll.review(_jtl(tmp_path / "results.jtl", HOUR_MS, 900)).review
    assert review.verdict == "unknown"


def test_k6_json_in_a_folder_is_read(tmp_path):
    time, tags = "2024-03-10T06:00:00Z", '{"name": "page", "status": "200"}'
    point = f'{{"metric":"http_req_duration","type":"Point","data":{{"time":"{time}","value":120,"tags":{tags}}}}}\n'
    (tmp_path / "results.json").write_text(point, encoding="utf-8")
    assert [log.format for log in plimsoll.review(tmp_path).review.logs] == ["k6-JSON"]
