"""Hosts of Linux, as sysstat records them."""

from collections.abc import Iterator, Mapping, Sequence

from .recording import Columns, Host, Level

Sections = Mapping[str, Sequence[tuple[str, Columns]]]
_TOTAL_KB = 16_000_000


def _cpu(
    well: float, sick: float | None, names: Sequence[str], wait: float | None = None
) -> Sequence[tuple[str, Columns]]:
    columns: Columns = {
        "%user": Level(well * 0.8, None if sick is None else sick * 0.8, 0.01),
        "%nice": Level(0),
        "%system": Level(well * 0.2, None if sick is None else sick * 0.2, 0.01),
        "%iowait": Level(0.4, wait, 0.01),
        "%steal": Level(0),
        "%idle": Level(
            99.6 - well, None if sick is None and wait is None else 99.6 - (sick or well) - (wait or 0), 0.01
        ),
    }
    return [(name, columns) for name in names]


def _memory(well: float, sick: float | None, *, old: bool) -> Sequence[tuple[str, Columns]]:
    """`kbavail` in KB; the sysstat of RHEL 7 has none, and counts caches as used."""
    left = Level(well, sick, 0.01)
    if not old:
        used = Level(_TOTAL_KB - well, None if sick is None else _TOTAL_KB - sick, 0.001)
        share = Level(100 - 100 * well / _TOTAL_KB, None if sick is None else 100 - 100 * sick / _TOTAL_KB, 0.001)
        return [("", {"kbmemfree": Level(300_000), "kbavail": left, "kbmemused": used, "%memused": share,
                      "kbbuffers": Level(90_000), "kbcached": Level(well / 2)})]  # fmt: skip
    free = Level(well * 0.1, None if sick is None else sick * 0.1, 0)
    used = Level(_TOTAL_KB - free.well, None if sick is None else _TOTAL_KB - (free.sick or 0), 0)
    share = Level(100 * used.well / _TOTAL_KB, None if sick is None else 100 * (used.sick or 0) / _TOTAL_KB, 0)
    cached = Level(well * 0.8, None if sick is None else sick * 0.8, 0.01)
    buffers = Level(well * 0.1, None if sick is None else sick * 0.1, 0.01)
    return [("", {"kbmemfree": free, "kbmemused": used, "%memused": share, "kbbuffers": buffers, "kbcached": cached})]


def _disk(well: float, sick: float | None) -> Sequence[tuple[str, Columns]]:
    return [
        (name, {"tps": Level(40), "rkB/s": Level(300), "wkB/s": Level(400), "areq-sz": Level(16),
                "aqu-sz": Level(0.2), "await": Level(well, sick if name == "sdb" else None), "%util": Level(9)})
        for name in ("sda", "sdb")
    ]  # fmt: skip


def _space(well: float, sick: float | None) -> Sequence[tuple[str, Columns]]:
    return [("/dev/sda1", {"MBfsfree": Level(50_000, None if sick is None else 900, 0), "MBfsused": Level(50_000, None if sick is None else 99_000, 0), "%fsused": Level(well, sick, 0),
                           "%ufsused": Level(well, sick, 0), "Ifree": Level(6_000_000), "Iused": Level(90_000), "%Iused": Level(2)})]  # fmt: skip


def hosts() -> Iterator[Host]:
    """Each resource in each way, well and sick, and left out."""
    entries = ("-1", "0", "1")
    for old in (False, True):
        kind = "RHEL 7" if old else "today"
        base: Sections = {
            "CPU": _cpu(20, None, entries),
            "-r": _memory(9_000_000, None, old=old),
            "DEV": _disk(3, None),
            "FILESYSTEM": _space(45, None),
        }
        yield Host(f"Linux {kind}, healthy", {}, "healthy", base)
        yield Host(f"Linux {kind}, processors", {}, "not-healthy", {**base, "CPU": _cpu(20, 98, entries)})
        yield Host(f"Linux {kind}, memory", {}, "not-healthy", {**base, "-r": _memory(9_000_000, 300_000, old=old)})
        yield Host(f"Linux {kind}, disk", {}, "not-healthy", {**base, "DEV": _disk(3, 140)})
        yield Host(f"Linux {kind}, space", {}, "not-healthy", {**base, "FILESYSTEM": _space(45, 99)})
        for label in ("CPU", "-r", "DEV"):
            less = {name: section for name, section in base.items() if name != label}
            yield Host(f"Linux {kind}, no {label}", {}, "unknown", less)
    for sick, verdict in ((None, "healthy"), (98.0, "not-healthy")):
        yield Host(
            f"Linux, processors without all, {verdict}", {}, verdict, {**base, "CPU": _cpu(20, sick, ("0", "1"))}
        )
    waits = {name: section for name, section in base.items() if name != "DEV"} | {
        "CPU": _cpu(5, None, entries, wait=75)
    }
    yield Host("Linux, waiting for a disk that is not recorded", {}, "not-healthy", waits)
    for used, verdict in ((8.0, "healthy"), (97.0, "not-healthy")):
        link = {"rxpck/s": Level(900), "txpck/s": Level(900), "rxkB/s": Level(1180 * used), "txkB/s": Level(300),
                "%ifutil": Level(used, spread=0.005)}  # fmt: skip
        yield Host(f"Linux, its link, {verdict}", {}, verdict, {**base, "IFACE": [("eth0", link)]})
