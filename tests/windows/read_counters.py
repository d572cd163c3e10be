"""Run by a Python for Windows: reads counters from the pdh.dll that is named, and prints them as JSON."""

import ctypes
import json
import sys

from plimsoll.collect.pdh.library import Pdh

WANTED = (
    r"\Memory\Available Bytes",
    r"\System\Processor Queue Length",
    r"\System\No Such Counter",
    r"\No Such Object(*)\Count",
    r"\Processor Information(*)\% Processor Time",
    r"\PhysicalDisk(*)\Avg. Disk sec/Transfer",
    r"\Process(*)\Private Bytes",
)


def samples(pdh: Pdh, paths: tuple[str, ...], count: int) -> list[object]:
    """The values of these counters, sample by sample."""
    query = pdh.open()
    counters = {path: pdh.add(query, path) for path in paths}
    found: list[object] = [{path: one is not None for path, one in counters.items()}]
    for _ in range(count):
        assert pdh.collect(query)
        found.append(
            {
                path: pdh.values(one) if "*" in path else pdh.value(one)
                for path, one in counters.items()
                if one is not None
            }
        )
    pdh.close(query)
    return found


if __name__ == "__main__":
    library = Pdh(ctypes.WinDLL(sys.argv[1]))
    print(json.dumps([library.objects(), *samples(library, WANTED, 3)]))
