"""ioping prints thousands of operations per second of a run that made two, and leaves the first one out.

ioping 1.3. Guess: 4 requests at 2 a second are 4 requests and an `iops` of about 2. The first is a warm-up that no
figure counts, though its time is shown. The rate is the count divided by the time that requests took, without the
pauses: what the device might do, not what it did. `-B` has that rate in its third column; the line "generated" has
the one that was.

Seen: count 3 of 4; the rate is the count divided by the sum of times
"""

from pathlib import Path

from common import expect, install_debian_package, output_of, run_finding


def probe(folder: Path) -> None:
    """Make four requests, half a second apart, on a file of 1 MiB."""
    ioping = install_debian_package(folder, "ioping=1.3-1") / "usr/bin/ioping"
    file = folder / "file"
    file.write_bytes(bytes(1 << 20))
    count, time_ns, rate = map(float, output_of([ioping, "-C", "-B", "-c", "4", "-i", "0.5", file]).split()[:3])
    expect(count, 3.0, "requests that count of four")
    expect(abs(rate - count / time_ns * 1e9) < 1, True, f"whether {rate} is {count} requests in {time_ns} ns")
    expect(rate > 20, True, f"whether {rate} is more than ten times the two requests of a second")


if __name__ == "__main__":
    run_finding(probe)
