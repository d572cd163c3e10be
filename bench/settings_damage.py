"""Damages packs, files of names and plimsoll.toml, and calls Plimsoll with each, as a user would.

    python bench/settings_damage.py 10000

Prints how often each exit status came, the slowest call and the most memory. Status 1 if a call ended with another
status than 0 or 2, printed a traceback, or took more than 2 s or 500 MB. The seed is the number of the call.
"""

import argparse
import contextlib
import importlib
import io
import multiprocessing
import os
import random
import re
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from plimsoll.cli import cli
from plimsoll.rules.load import load

ROOT = Path(__file__).parents[1]
LOG = ROOT / "examples" / "windows-today" / "trouble" / "APPSRV01.csv"
FILES = {
    "pack": sorted((ROOT / "rules" / "packs").glob("*.yaml")),
    "names": sorted((ROOT / "plimsoll" / "model" / "counter_names" / "languages").glob("*.yaml")),
    "settings": [ROOT / "docs" / "settings.md", *sorted((ROOT / "examples").glob("*/*/plimsoll.toml"))],
}
MOST_S = 2  # of a processor: other programs may run beside it
MOST_MB = 500
_HANGS_S = 60
_SHORT_LOG = '"(PDH-CSV 4.0) (UTC)(0)","\\\\H\\System\\Threads"\n"01/15/2008 10:00:00.000","7"\n'
_PIECES = [
    *(b"[", b"]", b"{", b"}", b":", b"- ", b"? ", b"&a ", b"*a", b"<<: ", b"!!int ", b"!!binary ", b"!!set ", b"|\n"),
    *(b">\n", b"'", b'"', b"\\", b"\n", b"\t", b"\r", b"\0", b"\x1b", b"\xff", b"\xe2\x80\xae", b"9" * 400, b"1e999"),
    *(b".inf", b".nan", b"-1", b"0x" + b"f" * 250, b"1:1", b"2008-01-15", b"null", b"[[", b"]]", b"'''", b'"""', b"="),
    *(
        b"#",
        b",",
        b"9999-12-31T23:59:59Z",
        b"0001-01-01T00:00:00+23:59",
        b"--- ",
        b"%YAML 9\n",
        b"~",
        b"\xf0\x9f\x92\xa9",
    ),
    *(b"%", b"0", b"1" * 290, b"9" * 15, b" ", b"1h", b"< ", b">= ", b"x", b"e" * 300, b'"\\e[31m"', b'"\\u202e"'),
]


def damaged(source, random_):
    """Return a file with one to eight pieces deleted, doubled, moved, overwritten or put in."""
    data = source.read_bytes()
    if source.suffix == ".md":
        data = data.split(b"```toml\n")[1].split(b"```")[0]
    for _ in range(random_.choice((1, 1, 1, 2, 3, 8))):
        at, end = sorted(random_.randint(0, len(data)) for _ in range(2))
        end = min(end, at + random_.choice((1, 4, 40, 400)))
        piece = random_.choice(_PIECES)
        piece = random_.choice((b"", data[at:end] * 2, piece, piece, piece * random_.choice((60, 3000, 100_000))))
        to = random_.choice((at, random_.randint(0, len(data))))
        rest = data[:at] + data[end:] if random_.random() < 0.7 else data
        data = rest[:to] + piece + rest[to:]
    return data


def _calls(kind, source, path, log):
    """The calls that read a file of this kind. Shipped packs replace themselves, settings are of their log."""
    if kind == "names":
        return [("show", log, "--names", path)]
    if kind == "settings":
        return [("review", source.parent if source.suffix == ".toml" else log, "--config", path)]
    names = re.findall(r"- id: (\S+)", source.read_text(encoding="utf-8"))
    return [
        ("rules", "check", path),
        ("rules", "list", "--only", path),
        ("rules", "explain", names[0], "--only", path),
        ("rules", "counters", "--only", path),
        ("review", LOG, "--only", path),
        ("review", log, "--pack", path),
    ]


def _one(job):
    """Call Plimsoll in a process of its own, which has all imported already; returns what came of it."""
    seed, folder = job
    random_ = random.Random(seed)
    kind = random_.choice([*FILES])
    path = folder / f"{seed}.{'toml' if kind == 'settings' else 'yaml'}"
    source = random_.choice(FILES[kind])
    path.write_bytes(damaged(source, random_))
    call = random_.choice(_calls(kind, source, path, folder / "log.csv"))
    err = folder / f"{seed}.err"
    start = time.monotonic()
    child = os.fork()
    if child == 0:
        signal.alarm(_HANGS_S)
        with err.open("w", encoding="utf-8", errors="replace") as sys.stderr:
            sys.stdout = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
            sys.argv = ["plimsoll", *map(str, call)]
            status = 99
            try:
                cli.main()
            except SystemExit as ended:
                status = ended.code or 0
            with contextlib.suppress(OSError):
                sys.stderr.flush()
            os._exit(status)
    _, ended, usage = os.wait4(child, 0)
    took = time.monotonic() - start
    status = os.waitstatus_to_exitcode(ended)
    mb = usage.ru_maxrss / 1024
    said = err.read_text(encoding="utf-8", errors="replace")
    cpu = usage.ru_utime + usage.ru_stime
    wrong = status not in (0, 2) or "Traceback" in said or cpu > MOST_S or mb > MOST_MB
    if not wrong:
        path.unlink()
    err.unlink()
    return seed, kind, call[0:2], status, cpu, took, mb, said if wrong else ""


def _prepare():
    """Import what calls import, so that they begin at once. Polars is not called: its threads do not survive a fork."""
    for name in ("review", "rules", "show"):
        importlib.import_module(f"plimsoll.cli.commands.{name}")
    load()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("count", type=int)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    asked = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="settings_damage"))
    (folder / "log.csv").write_text(_SHORT_LOG)
    statuses, slowest, most, failed = Counter(), (0, 0), (0, 0), 0
    with multiprocessing.get_context("spawn").Pool(2 * (os.cpu_count() or 1), initializer=_prepare) as pool:
        todo = [(seed, folder) for seed in range(asked.first, asked.first + asked.count)]
        for seed, kind, call, status, cpu, took, mb, said in pool.imap_unordered(_one, todo, chunksize=20):
            statuses[kind, status] += 1
            slowest, most = max(slowest, (cpu, seed)), max(most, (mb, seed))
            if said or status not in (0, 2) or cpu > MOST_S or mb > MOST_MB:
                failed += 1
                used = f"{cpu:.1f} s, {took:.1f} s of a clock, {mb:,.0f} MB"
                print(f"seed {seed}: {kind}, {' '.join(map(str, call))}: status {status}, {used}")
                print("\n".join(said.splitlines()[:1] + said.splitlines()[-4:]))
    for (kind, status), count in sorted(statuses.items()):
        print(f"{kind}, status {status}: {count:,}")
    print(f"slowest: {slowest[0]:.2f} s (seed {slowest[1]}); most memory: {most[0]:,.0f} MB (seed {most[1]})")
    print(f"failed: {failed}")
    if not failed:
        shutil.rmtree(folder)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
