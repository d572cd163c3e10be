"""What the Linux kernel counts: the plugins `kernel`, `kernel_vmstat`, `conntrack`, `nstat` and `linux_sysctl_fs`.

They give the fields that telegraf/linux.conf keeps. A kernel that lacks one of the files gives no reading of it.
"""

import itertools
from collections.abc import Iterator

from plimsoll.collect.sources.reading import PROC, Reading, text_of

_STAT = {"intr": "interrupts", "ctxt": "context_switches", "processes": "processes_forked", "btime": "boot_time"}
_VMSTAT = ("pgpgin", "pgpgout", "pswpin", "pswpout", "pgmajfault", "oom_kill")
_NETSTAT = ("TcpExt", "ListenOverflows")


def counts() -> Iterator[Reading]:
    """The measurement `kernel`: context switches, interrupts and processes started, since the system started."""
    lines = (line.split(maxsplit=2) for line in (PROC / "stat").read_text().splitlines())
    yield Reading("kernel", {_STAT[line[0]]: float(line[1]) for line in lines if line and line[0] in _STAT})


def paging() -> Iterator[Reading]:
    """The measurement `kernel_vmstat`."""
    found = dict(line.split() for line in (PROC / "vmstat").read_text().splitlines())
    yield Reading("kernel_vmstat", {name: float(found[name]) for name in _VMSTAT if name in found})


def pressure() -> Iterator[Reading]:
    """The measurement `pressure`: pressure stall information."""
    for resource in ("cpu", "memory", "io"):
        for line in (text_of(PROC / "pressure" / resource) or "").splitlines():
            kind, *averages = line.split()
            if (resource, kind) == ("cpu", "full"):  # always 0, and Telegraf leaves it out
                continue
            fields = {name: float(value) for name, _, value in (one.partition("=") for one in averages)}
            yield Reading("pressure", fields, (("resource", resource), ("type", kind)))


def connections_tracked() -> Iterator[Reading]:
    """The measurement `conntrack`, if the module is loaded."""
    folder = PROC / "sys" / "net" / "netfilter"
    count, most = text_of(folder / "nf_conntrack_count"), text_of(folder / "nf_conntrack_max")
    if count and most:
        yield Reading("conntrack", {"ip_conntrack_count": float(count), "ip_conntrack_max": float(most)})


def accept_queues() -> Iterator[Reading]:
    """The measurement `nstat`: connections that found the queue of a listening socket full."""
    group, name = _NETSTAT
    # A line of names, and below it one of values.
    for names, values in itertools.pairwise((text_of(PROC / "net" / "netstat") or "").splitlines()):
        found = dict(zip(names.split(), values.split(), strict=False))
        if names.startswith(f"{group}:") and found[f"{group}:"] == f"{group}:" and name in found:
            yield Reading("nstat", {group + name: float(found[name])}, (("name", "netstat"),))
            return


def open_files() -> Iterator[Reading]:
    """The measurement `linux_sysctl_fs`: file handles."""
    in_use, _, most = (PROC / "sys" / "fs" / "file-nr").read_text().split()
    yield Reading("linux_sysctl_fs", {"file-nr": float(in_use), "file-max": float(most)})
