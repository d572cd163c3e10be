"""A newer node_exporter shows less of the memory than an older one, and every file system as another series.

node_exporter 1.3.1 and 1.10.2. Guess: an exporter after 1.0 adds metrics and keeps what it has. 1.3.1 shows each
line of /proc/meminfo under its name; 1.10.2 those that its library knows, without KReclaimable, FileHugePages and
others, on the same kernel. All `node_filesystem_*` series have a label more, `device_error`: after an update a
graph or an alert by all labels sees each file system end and another one begin.

Seen: node_memory_KReclaimable_bytes in 1.3.1 alone; labels of node_filesystem_free_bytes device, fstype, mountpoint
in 1.3.1, and device_error beside them in 1.10.2
"""

import re
from pathlib import Path

from common import expect, fetch, free_port, install_go_program, run_finding, serve


def _samples(folder: Path, version: str) -> list[str]:
    program = install_go_program(folder, f"github.com/prometheus/node_exporter@v{version}")
    address = f"127.0.0.1:{free_port()}"
    with serve([program, f"--web.listen-address={address}"], f"http://{address}/metrics", folder):
        return fetch(f"http://{address}/metrics").splitlines()


def probe(folder: Path) -> None:
    """Show one machine by both versions."""
    file_systems: list[list[str]] = []
    reclaimable: list[bool] = []
    for version in ("1.3.1", "1.10.2"):
        samples = _samples(folder, version)
        reclaimable.append(any(line.startswith("node_memory_KReclaimable_bytes ") for line in samples))
        sample = next(line for line in samples if line.startswith("node_filesystem_free_bytes{"))
        file_systems.append(re.findall(r'(\w+)="', sample))
    expect("KReclaimable" in Path("/proc/meminfo").read_text(), True, "whether the kernel has KReclaimable")
    expect(reclaimable, [True, False], "whether each version shows KReclaimable")
    labels = ["device", "fstype", "mountpoint"]
    expect(file_systems, [labels, [labels[0], "device_error", *labels[1:]]], "labels of file systems")


if __name__ == "__main__":
    run_finding(probe)
