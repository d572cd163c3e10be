"""check_disk's performance data count used space, also in their limits; its text and its options count free space.

monitoring-plugins 2.3.3. Guess: of `-w 20% -c 10%` and "free space: 44919MiB" the number after `|` is what is free, and
its limits are 20 and 10 %. The number is what is used, in bytes, and the limits are 80 and 90 % of the size: a tool
that reads them as the options alerts on an empty disk. `-w 100` is 100 MiB that are left. `inode=91%` is free too.

Seen: the used bytes of the file system; limits at the size less 0.002 and 0.001 %, and less 2 and 1 MiB
"""

import os
import re
from pathlib import Path

from common import expect, install_debian_package, output_of, run_finding

_VERSION = "2.3.3-5+deb12u2"


def probe(folder: Path) -> None:
    """Check the file system of the folder with limits in per cent, then in MiB."""
    root = install_debian_package(
        folder, f"monitoring-plugins-basic={_VERSION}", f"monitoring-plugins-common={_VERSION}"
    )
    for warning, critical, shares in (("0.002%", "0.001%", (2e-5, 1e-5)), ("2", "1", (2**21, 2**20))):
        command = [root / "usr/lib/nagios/plugins/check_disk", "-w", warning, "-c", critical, "-p", folder]
        printed = output_of(command)
        disk = os.statvfs(folder)
        numbers = re.findall(r"=(\d+)B;(\d+);(\d+);0;(\d+)", printed)[0]
        used, *limits, size = (int(number) for number in numbers)
        bytes_used = (disk.f_blocks - disk.f_bfree) * disk.f_frsize
        expect(abs(used - bytes_used) < 2**30, True, f"whether {used} are used, as {bytes_used}")
        left = [size - limit for limit in limits]
        stated = [share * size if share < 1 else share for share in shares]
        expect([round(value / 2**20) for value in left], [round(value / 2**20) for value in stated], "left, in MiB")
        share = float(re.findall(r"inode=(\d+)%", printed)[0])
        expect(abs(share - 100 * disk.f_favail / disk.f_files) < 2, True, f"whether {share} % of inodes are free")


if __name__ == "__main__":
    run_finding(probe)
