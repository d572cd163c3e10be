"""Free space of file systems, with the fields of Telegraf's plugin `disk`."""

import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TypeAlias

import psutil

from plimsoll.collect.sources.reading import PROC, SYS, Lookup, Reading, read_kernel_file

# As in telegraf/linux.conf: file systems in memory, in image files, and of containers.
LEFT_OUT = ("tmpfs", "devtmpfs", "devfs", "iso9660", "overlay", "aufs", "squashfs")
_NOT_READ = (*LEFT_OUT, "autofs")  # reading it would mount it
# File systems without a size, and those on disks: the kernel always answers for them, without a read.
_SIZELESS = ("proc", "sysfs", "devpts", "cgroup", "cgroup2", "mqueue", "pstore", "bpf", "binfmt_misc", "configfs")
_OF_DISKS = ("ext2", "ext3", "ext4", "xfs", "btrfs", "vfat")
_UDEV = Path("/run/udev/data")
_MAPPER = "/dev/mapper/"
_LABEL = "E:ID_FS_LABEL="
Fields: TypeAlias = Mapping[str, float]


class Mount(NamedTuple):
    """A mounted file system."""

    device: str
    mountpoint: str
    fstype: str
    opts: str


def _read_mounts() -> Sequence[Mount]:
    if sys.platform != "linux":
        return [Mount(*partition[:4]) for partition in psutil.disk_partitions(all=True)]
    # The view of process 1: a service manager may show other processes all file systems as read-only.
    lines = read_kernel_file(PROC / "1" / "mountinfo") or (PROC / "self" / "mountinfo").read_text()
    return [_parse_mount(line) for line in lines.splitlines()]


def _parse_mount(line: str) -> Mount:
    """Return the mount in a line of mountinfo: `36 35 98:0 / /mnt rw,noatime master:1 - ext3 /dev/sda1 rw`."""
    head, _, tail = line.partition(" - ")
    _, _, number, _, path, options, *_ = head.split()
    fstype, device, *_ = tail.split()
    if device == "/dev/root":  # mounted by the kernel at its start, without another device name
        device = f"/dev/{os.path.basename(os.path.realpath(SYS / 'dev' / 'block' / number))}"
    return Mount(_unescape_text(device), _unescape_text(path), fstype, options)


def _unescape_text(text: str) -> str:
    return re.sub(r"\\([0-7]{3})", lambda code: chr(int(code[1], 8)), text)


def _read_usage(path: str) -> Fields:
    """Return the use of the file system at a path; as in `df`, space reserved for root is neither used nor free."""
    if sys.platform == "win32":
        raise OSError
    status = os.statvfs(path)
    used, free = (status.f_blocks - status.f_bfree) * status.f_frsize, status.f_bavail * status.f_frsize
    inodes_used = max(0, status.f_files - status.f_ffree)
    return {
        "total": status.f_blocks * status.f_frsize,
        "free": free,
        "used": used,
        "used_percent": _compute_percent(used, free),
        "inodes_total": status.f_files,
        "inodes_free": status.f_ffree,
        "inodes_used": inodes_used,
        "inodes_used_percent": _compute_percent(inodes_used, status.f_ffree),
    }


def _compute_percent(used: float, free: float) -> float:
    return 100 * used / (used + free) if used + free > 0 else 0.0


class FileSystemSpace:
    """Reads the used and free space of each file system."""

    def __init__(
        self, mounts: Callable[[], Sequence[Mount]] = _read_mounts, usage: Callable[[str], Fields] = _read_usage
    ) -> None:
        self._mounts = mounts
        self._usages = Lookup(usage)

    def __call__(self) -> Iterator[Reading]:
        """Yield a reading `disk` for each file system, except those without a size, such as /proc."""
        mounts = {mount.mountpoint: mount for mount in self._mounts() if mount.fstype not in _NOT_READ}
        prompt = {path for path, mount in mounts.items() if mount.fstype in (*_SIZELESS, *_OF_DISKS)}
        for path, fields in self._usages.results(mounts, prompt).items():
            if fields["total"]:
                yield Reading("disk", fields, _list_tags(mounts[path]))


def _list_tags(mount: Mount) -> tuple[tuple[str, str], ...]:
    device = os.path.realpath(mount.device) if mount.device.startswith(_MAPPER) else mount.device
    name = device.replace("/dev/", "")
    options = mount.opts.split(",")
    mode = next((mode for mode in ("rw", "ro") if mode in options), "unknown")
    tags = {"path": mount.mountpoint, "device": name, "fstype": mount.fstype, "mode": mode}
    if label := _label(device, name):
        tags["label"] = label
    return tuple(sorted(tags.items()))


def _label(device: str, name: str) -> str | None:
    """Return the name of a logical volume, else the label of a file system from udev; None without name and label."""
    # Other paths may be on a file server that does not answer.
    if sys.platform != "linux" or not device.startswith("/dev/"):
        return None
    if volume := read_kernel_file(SYS / "block" / name / "dm" / "name"):
        return volume
    try:
        number = os.stat(device).st_rdev
    except OSError:
        return None
    lines = (read_kernel_file(_UDEV / f"b{os.major(number)}:{os.minor(number)}") or "").splitlines()
    return next((line.removeprefix(_LABEL) for line in lines if line.startswith(_LABEL)), None)
