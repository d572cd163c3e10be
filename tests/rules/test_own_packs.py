"""User packs: their signals are known everywhere, beside the shipped packs; mistakes name their place."""

import json
from datetime import datetime, timedelta

import pytest

START = datetime(2026, 3, 2, 9)
PACK = r"""pack: shop
title: Shop
about: Limits of the web shop.
signals:
  shop.time_in_gc:
    title: Time in garbage collection
    unit: '%'
    meaning: Share of time that a process collects garbage.
    instances: each
    sources:
      - {path: '\.NET CLR Memory(*)\% Time in GC', but: [_Global_]}
  shop.heap:
    title: Heap
    unit: bytes
    meaning: Memory of all heaps of a process.
    instances: each
    sources: ['\.NET CLR Memory(*)\# Bytes in all Heaps']
rules:
  - id: shop-time-in-gc
    signal: shop.time_in_gc
    healthy: "<= 10 %"
    over: 1m
    for: 5m
    severity: critical
    summary: It collects garbage instead of selling.
    sources: [{document: Capacity plan, place: page 3}]
    cases:
      - {name: fires, series: {shop.time_in_gc: 12x60}, fires: true}
      - {name: just below, series: {shop.time_in_gc: 10x60}, fires: false}
      - {name: data missing, series: {shop.time_in_gc: _x60}, fires: null}
  - id: shop-heap
    signal: shop.heap
    healthy: "< 2 GB"
    severity: info
    summary: It grows.
    look_at: [shop.time_in_gc, memory.available]
    sources: [{document: Capacity plan, place: page 4}]
"""


@pytest.fixture
def pack(tmp_path):
    """Writes the pack, with a part of its text replaced."""

    def write(old="", new="", name="shop.yaml"):
        assert old in PACK
        path = tmp_path / name
        path.write_text(PACK.replace(old, new), encoding="utf-8")
        return path

    return write


@pytest.fixture
def log(tmp_path):
    """Half an hour of a host that is healthy but for the garbage collection of one process."""
    columns = {
        r"Processor(_Total)\% Processor Time": 20,
        r"Memory\Available Bytes": 8 * 2**30,
        r"PhysicalDisk(0 C:)\% Idle Time": 95,
        r".NET CLR Memory(_Global_)\% Time in GC": 90,
        r".NET CLR Memory(w3wp)\% Time in GC": 35,
        r".NET CLR Memory(w3wp#1)\% Time in GC": 2,
        r".NET CLR Memory(w3wp)\# Bytes in all Heaps": 3 * 2**30,
    }
    head = ",".join(['"(PDH-CSV 4.0) (UTC)(0)"', *(rf'"\\SHOP1\{name}"' for name in columns)])
    rows = [
        ",".join(
            [
                f'"{START + timedelta(seconds=15 * row):%m/%d/%Y %H:%M:%S}.000"',
                *(f'"{v + row % 3 if "Available" in name else v}"' for name, v in columns.items()),
            ]
        )
        for row in range(120)
    ]
    path = tmp_path / "SHOP1.csv"
    path.write_text("\r\n".join([head, *rows]) + "\r\n", encoding="utf-8", newline="")
    return path


@pytest.fixture
def review(plimsoll, tmp_path):
    def call(*arguments):
        out = tmp_path / "review.json"
        done = plimsoll("review", *arguments, "--json", out)
        assert done.status == 0, done.err
        return json.loads(out.read_text(encoding="utf-8"))

    return call


def states(values):
    return {(rule["rule"], rule["instance"]): rule["state"] for rule in values["rules"]}


def test_what_the_shipped_packs_find_healthy_its_own_pack_does_not(review, log, pack):
    assert review(log)["verdict"] == "healthy"
    result = review(log, "--pack", pack())
    assert result["verdict"] == "not-healthy"
    outcome = states(result)
    assert outcome["shop-time-in-gc", "w3wp"] == "crossed"
    assert outcome["shop-time-in-gc", "w3wp#1"] == "held"
    assert ("shop-time-in-gc", "_Global_") not in outcome
    assert outcome["cpu-busy", None] == "held"
    (heap,) = [rule for rule in result["rules"] if rule["rule"] == "shop-heap"]
    assert (heap["state"], heap["threshold"]["limit"], heap["threshold"]["healthy"]) == (
        "crossed",
        2 * 2**30,
        "< 2147483648",
    )


def test_only_replaces_what_ships(review, log, pack):
    assert {rule for rule, _ in states(review(log, "--only", pack()))} == {"shop-time-in-gc", "shop-heap"}
    result = review(log, "--only", "disk", "--pack", pack())
    assert [item["pack"] for item in result["packs"]] == ["disk", "shop"]


def test_a_pack_that_was_named_is_for_every_host_where_it_is_for_none(review, log, pack):
    for_others = pack("about:", "applies_to: {objects: [Shop]}\nabout:")
    (applied,) = [item for item in review(log, "--pack", for_others)["packs"] if item["pack"] == "shop"]
    assert applied["hosts"] == ["SHOP1"]
    assert {item["pack"]: item["hosts"] for item in review(log, "--pack", "messaging")["packs"]}["messaging"] == [
        "SHOP1"
    ]
    assert {item["pack"]: item["hosts"] for item in review(log)["packs"]}["messaging"] == []


def test_its_rules_can_be_set_otherwise_in_any_unit(review, log, pack, tmp_path):
    (tmp_path / "plimsoll.toml").write_text(
        '[rules.shop-time-in-gc]\nhealthy = "<= 50 %"\nreason = "a batch job"\n'
        '[rules.shop-heap]\nhealthy = "< 4096 MB"\nreason = "more memory"\n'
    )
    result = review(log, "--pack", pack())
    assert states(result)["shop-time-in-gc", "w3wp"] == "held"
    (heap,) = [rule for rule in result["rules"] if rule["rule"] == "shop-heap"]
    assert (heap["state"], heap["threshold"]["limit"]) == ("held", 4 * 2**30)
    assert heap["threshold"]["override"]["reason"] == "more memory"


@pytest.mark.parametrize(
    ("limit", "output"),
    [
        (
            "< 4096",
            'rules.shop-heap.healthy: "< 4096" does not name its unit; write "< 4096 GB" (documented: "< 2 GB")',
        ),
        ("< 4 ms", 'rules.shop-heap.healthy: "< 4 ms": the signal is in bytes'),
    ],
)
def test_a_limit_of_settings_that_does_not_fit_is_refused(plimsoll, log, pack, tmp_path, limit, output):
    (tmp_path / "plimsoll.toml").write_text(f'[rules.shop-heap]\nhealthy = "{limit}"\nreason = "r"\n')
    done = plimsoll("review", log, "--pack", pack())
    assert done.status == 2
    assert output in done.err


def test_every_command_knows_it(plimsoll, pack):
    result = pack()
    explained = plimsoll("rules", "explain", "shop-heap", "--pack", result).out
    assert "below 2 GB" in explained
    assert r"- \.NET CLR Memory(*)\# Bytes in all Heaps" in explained
    listed = plimsoll("rules", "list", "--pack", result).out
    assert "shop-time-in-gc" in listed
    assert "cpu-busy" in listed
    assert "cpu-busy" not in plimsoll("rules", "list", "--only", result).out
    for option in ((result,), ("--pack", result), ("--only", result)):
        assert plimsoll("rules", "check", *option).out == "ok: 2 rules in 1 pack\n"
        assert plimsoll("rules", "test", *option).out == "3 cases of 2 rules, 0 failed\n"


def test_an_object_that_nobody_knows_is_found_in_a_log(review, tmp_path, pack):
    result = pack(r"\.NET CLR Memory(*)\# Bytes in all Heaps", r"\Shop(*)\Open Baskets/sec (new)")
    rows = "\n".join(f'"03/02/2026 09:{row:02}:00.000","{3 * 2**30}"' for row in range(30))
    log = tmp_path / "shop.csv"
    log.write_text(f'"(PDH-CSV 4.0) (UTC)(0)","\\\\SHOP1\\Shop(front)\\Open Baskets/sec (new)"\n{rows}\n')
    assert states(review(log, "--pack", result))["shop-heap", "front"] == "crossed"


MISTAKES = [
    ("severity: critical", "severity: warn", 'severity: "warn" is not one of info, warning, critical'),
    ("for: 5m", "for: 5 minutes", '"5 minutes" is not a duration; write it like 30s, 5m or 1h30m'),
    ("pack: shop", "pack: shop\npack: two", ':2:1: "pack" stands here a second time'),
    ("sources: [{document: Capacity plan, place: page 4}]", "sources: []", "sources: at least one is needed"),
    ("summary: It grows.", "note: It grows.", '"summary" is missing'),
    ("12x60}, fires", "[1, 2]}, fires", 'a series is text: put it in quotes, as in "0x60"'),
    ("12x60}", "12x6O}", '"12x6O" is not a series of samples; write it like 95x60'),
    ("<= 10 %", "<= 10 ms", ':21:5: rule shop-time-in-gc: healthy "<= 10 ms": the signal is in %, and "ms" is no unit'),
    ("< 2 GB", "< 2000000000", ':33:5: rule shop-heap: healthy "< 2000000000" does not name its unit; write'),
    ("< 2 GB", "< 2 Gb", ':33:5: rule shop-heap: healthy "< 2 Gb": the signal is in bytes, and "Gb" is no unit'),
    ("signal: shop.heap", "signal: shop.haep", ':32:5: rule shop-heap: signal "shop.haep" is not known (did you mean'),
    ("id: shop-heap", "id: cpu-busy", "rule cpu-busy: packs/operating-system.yaml:"),
    ("shop.heap:", "disk.queue_length:", ":12:3: signal disk.queue_length: signals/disks.yaml:"),
    ("pack: shop", "pack: disk", ":1:1: packs/disk.yaml:"),
    (
        r"'\.NET CLR Memory(*)\# ",
        r"'\\SRV1\.NET CLR Memory(*)\# ",
        "names a computer; a source is a path for any computer",
    ),
    (r"'\.NET CLR Memory(*)\# ", "'NET # ", ":17:15: signal shop.heap: "),
    ("    signal: shop.heap", "\tsignal: shop.heap", ":32:1: not valid YAML: found a tab"),
    (r"['\.NET CLR Memory(*)\# Bytes in all Heaps']", r'["\.NET CLR"]', "put what has one in single quotes"),
    ("title: Shop", "title: [", "not valid YAML"),
    ("instances: each\n    sources: [", "sources: [", "judge each (instances: each), or add them up (instances: sum)"),
    ("shop.heap", "Heap", "write it like disk.read_latency"),
    ("signals:", "signal:", 'unknown field "signal" (did you mean "signals"?)'),
    ("unit: bytes", "unti: bytes", 'unknown field "unti" (did you mean "unit"?)'),
    (
        r"sources: ['\.NET CLR Memory(*)\# Bytes in all Heaps']",
        "derived: {sum: [shop.heap, disk.reads]}",
        "derived from itself",
    ),
    (
        r"sources: ['\.NET CLR Memory(*)\# Bytes in all Heaps']",
        "derived: {sum: [shop.hep, disk.reads]}",
        '(did you mean "shop.heap"?)',
    ),
    ("look_at: [shop.time_in_gc", "look_at: [shop.time_on_gc", '(did you mean "shop.time_in_gc"?)'),
    ("severity: info", "severity: info\n    where: {memory_mb: '<= 4 GB'}", "a fact has its unit in its name"),
    ("severity: info", "severity: info\n    recover: '< 1'", 'recover "< 1" does not name its unit; write "< 1 bytes"'),
    (
        "severity: info",
        "severity: info\n    and:\n      - {signal: disk.read_latency, healthy: '< 25'}",
        ':36:37: rule shop-heap: healthy "< 25" does not name its unit; write "< 25 s"',
    ),
]


REST = [("rules", "test"), ("review", "{log}", "--pack")]  # which read packs as `rules check` does


@pytest.mark.parametrize(
    ("command", "old", "new", "output"),
    [
        *((("rules", "check"), *item) for item in MISTAKES),
        *((command, *item) for command in REST for item in (MISTAKES[0], MISTAKES[-1])),
    ],
)
def test_a_mistake_is_told_with_its_place_and_what_to_do(plimsoll, log, pack, command, old, new, output):
    path = pack(old, new)
    done = plimsoll(*(part.format(log=log) for part in command), path)
    assert (done.status, done.out) == (2, "")
    assert output in done.err
    assert all(line.startswith(f"plimsoll: {path}:") for line in done.err.splitlines())


@pytest.mark.parametrize(
    ("content", "output"),
    [
        (b"", ":1:1: expected names and values, found nothing; `plimsoll rules new FILE` writes one"),
        (b"- a\n- b\n", ":1:1: expected names and values, found a list"),
        (b"hello", ':1:1: expected names and values, found "hello"'),
        (PACK.encode("utf-16-le"), ":1:1: not valid YAML: it is not text in UTF-8"),
        (b"title: caf\xe9\n", ":1:1: not valid YAML: it is not text in UTF-8"),
        (b"\x00", ":1:1: not valid YAML"),
        (b"rules: &r [*r]\n", "a part of it holds itself"),
        (b"a: " + b"[" * 5000 + b"]" * 5000, "nested too deeply"),
    ],
)
def test_what_is_no_pack_at_all(plimsoll, tmp_path, content, output):
    path = tmp_path / "own.yaml"
    path.write_bytes(content)
    done = plimsoll("rules", "check", path)
    assert (done.status, done.out) == (2, "")
    assert f"plimsoll: {path}" in done.err
    assert output in done.err


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_marks_of_the_encoding_are_read(plimsoll, tmp_path, encoding):
    path = tmp_path / "own.yaml"
    path.write_bytes(PACK.replace("\n", "\r\n").encode(encoding))
    assert plimsoll("rules", "check", path).out == "ok: 2 rules in 1 pack\n"


def test_two_packs_of_ones_own_share_no_names(plimsoll, pack):
    item, two = pack(), pack(name="two.yaml")
    done = plimsoll("rules", "check", item, two)
    assert done.status == 2
    assert len(done.err.splitlines()) == 5  # the pack, two signals, two rules
    assert f"{item}:5:3 has a signal of that name already" in done.err
    assert plimsoll("rules", "check", item, item).out == "ok: 2 rules in 1 pack\n"


def test_a_pack_does_not_know_the_signals_of_another(plimsoll, pack):
    """Otherwise its validity would depend on the packs loaded with it."""
    other = pack(name="other.yaml")
    other.write_text(
        PACK.partition("signals:")[0].replace("shop", "other") + PACK[PACK.index("rules:") :].replace("shop-", "other-")
    )
    done = plimsoll("rules", "check", pack(), other)
    assert 'rule other-heap: signal "shop.heap" is not known' in done.err


def test_a_counter_of_its_own_that_cannot_be_read_leaves_a_doubt(review, log, pack):
    log.write_text(log.read_text(encoding="utf-8").replace(f'"{3 * 2**30}"', '"n/a"'), encoding="utf-8")
    assert review(log)["verdict"] == "healthy"
    result = review(log, "--pack", pack('healthy: "<= 10 %"', 'healthy: "<= 99 %"'))
    assert result["verdict"] == "unknown"


def test_a_rule_of_ones_own_in_settings_needs_its_pack(plimsoll, log, pack, tmp_path):
    (tmp_path / "plimsoll.toml").write_text('[rules.shop-heap]\noff = true\nreason = "r"\n')
    done = plimsoll("review", log)
    assert done.status == 2
    assert "rules.shop-heap: no rule has this id" in done.err
    assert plimsoll("review", log, "--pack", pack()).status == 0
