"""Run by a Python for Windows: reads counters from the pdh.dll that is named, and prints them as JSON."""

import ctypes
import json
import sys

from plimsoll.collect.pdh import Pdh
from plimsoll.collect.sources.reading import Group, NoAnswer, Patient, Reading

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
    result: list[object] = [{path: counter is not None for path, counter in counters.items()}]
    for _ in range(count):
        assert pdh.collect(query)
        result.append(
            {
                path: pdh.values(counter) if "*" in path else pdh.value(counter)
                for path, counter in counters.items()
                if counter is not None
            }
        )
    pdh.close(query)
    return result


def beside_one_that_hangs(pdh: Pdh) -> list[object]:
    """What is read of a provider that hangs, of one that does not, and of the first again."""

    def group(path: str) -> Group:
        query = pdh.open()
        counter = pdh.add(query, path)
        assert counter is not None

        def read() -> list[Reading]:
            pdh.collect(query)
            return [Reading(path, {"value": pdh.value(counter) or 0.0})]

        return read

    hung, other = Patient(group(r"\Hung Provider\Count"), 0.2), Patient(group(r"\Memory\Available Bytes"), 300)
    result: list[object] = []
    for item in (hung, other, hung):
        try:
            result.append([reading.fields["value"] for reading in item()])
        except NoAnswer:
            result.append("no answer")
    return result


if __name__ == "__main__":
    library = Pdh(ctypes.WinDLL(sys.argv[1]))
    print(json.dumps([library.objects(), *samples(library, WANTED, 3), beside_one_that_hangs(library)]), flush=True)
