"""What single hostile inputs cost: spellings, names and lines without end, gzip of many parts, a very large batch.

    python bench/hostile/requests.py

Prints a line for each, with the memory or the processor time it takes. Nothing is sent anywhere.
"""

import contextlib
import gzip
import itertools
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np

from plimsoll.model.points import Points
from plimsoll.model.series import Series
from plimsoll.receive.line_protocol.parse import Parser, TooMany
from plimsoll.receive.line_protocol.series_names import Bounds
from plimsoll.serve.bodies import NotGzip, TooLarge, unpack
from plimsoll.store.duck.store import DuckStore

SECOND = 10**9
NOW = 1_790_000_000 * SECOND


def main() -> None:
    """Print the figures."""
    spellings()
    names_without_series()
    names_of_many_tags()
    lines_without_end()
    for size in (1, 2, 4, 25):
        gzip_of_many_parts(size)
    many_hosts()


def spellings() -> None:
    """The memory that bodies keep which write one series with its tags in ever new orders."""
    tags = [b"t%d=%s" % (at, b"x" * 30) for at in range(9)]
    orders = itertools.permutations(tags)
    parser = Parser()
    tracemalloc.start()
    sent = 0
    for number in range(1, 6):
        some = itertools.islice(orders, 1200)
        body = b"".join(b"cpu,host=a,%s v=1 %d\n" % (b",".join(order), NOW) for order in some)
        sent += len(body)
        parser.parse(body, now=NOW)
        print(f"{number} bodies, {sent / 1e6:.1f} MB: {tracemalloc.get_traced_memory()[0] / 1e6:.1f} MB are kept")
    tracemalloc.stop()


def names_without_series() -> None:
    """The memory that bodies keep whose lines have ever new tags, and no number: until they are refused."""
    parser = Parser(Bounds(names=16 << 20))
    tracemalloc.start()
    refused_lines, kept = 0, 0.0
    for number in range(4):
        lines = (b'a,host=a,b=%d v="x" %d\n' % (at, NOW) for at in range(number * 6000, (number + 1) * 6000))
        refused_lines += parser.parse(b"".join(lines), now=NOW).refused.count
        kept = tracemalloc.get_traced_memory()[0] / 1e6
    print(f"24,000 names without a series, of which 16 MB may be kept: {kept:.0f} MB, {refused_lines:,} lines refused")
    tracemalloc.stop()


def names_of_many_tags() -> None:
    """The memory that names of 4,000 tags each keep, and how many of them are taken."""
    parser = Parser()
    tracemalloc.start()
    heads = (b"a," + b",".join(b"t%d=%d" % (tag, at) for tag in range(4000)) for at in range(600))
    taken = len(parser.parse(b"".join(b"%b v=1\n" % head for head in heads), now=NOW).points)
    print(f"600 names of 4,000 tags: {taken} are taken, {tracemalloc.get_traced_memory()[0] / 1e6:.0f} MB are kept")
    tracemalloc.stop()


def lines_without_end() -> None:
    """The memory that 20 MB after an open quote take while they are read."""
    for what, text in (("line ends", b"\n"), ("quotes", b'",a="\n')):
        body = b'a v="' + text * (20_000_000 // len(text))
        tracemalloc.start()
        begun = time.process_time()
        with contextlib.suppress(TooMany):
            Parser().parse(body, now=NOW)
        peak, took = tracemalloc.get_traced_memory()[1], time.process_time() - begun
        print(
            f"20 MB of {what} in quotes, {len(gzip.compress(body)) / 1e3:.0f} kB packed: "
            f"{peak / 1e6:.0f} MB, {took:.1f} s"
        )
        tracemalloc.stop()


def gzip_of_many_parts(megabytes: int) -> None:
    """The time to refuse a body of empty parts."""
    one = gzip.compress(b"")
    body = one * (megabytes * 10**6 // len(one))
    print(f"{megabytes} MB of empty gzip parts: {cpu_s(lambda: refused(body)):.3f} CPU s")


def refused(body: bytes) -> None:
    """Unpack a body that is not to be unpacked."""
    try:
        unpack(body, 100 << 20)
    except (TooLarge, NotGzip):
        return
    raise AssertionError("was unpacked")


def many_hosts() -> None:
    """Batches of 1,000 hosts of 60 values, as often as their series are first forgotten."""
    series = [Series(f"h{host}", "m", (), f"f{field}") for host in range(1000) for field in range(60)]
    which = np.arange(len(series), dtype=np.int32)
    with tempfile.TemporaryDirectory() as folder:
        store = DuckStore.open(Path(folder) / "x.duckdb")
        failed = 0
        for batch in range(5):
            try:
                store.write_points(
                    Points(series, which, np.full(len(which), NOW + batch * SECOND), np.zeros(len(which)))
                )
            except KeyError:
                failed += 1
        store.close()
    print(f"1,000 hosts of 60 values: {failed} of 5 batches failed")


def cpu_s(call: Callable[[], object]) -> float:
    """The processor time of a call."""
    begun = time.process_time()
    call()
    return time.process_time() - begun


if __name__ == "__main__":
    main()
