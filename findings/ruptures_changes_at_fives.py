"""ruptures finds changes at every fifth sample only, and with PELT two where there is one.

ruptures 1.1.10. Guess: a clean step from 0 to 10 after 23 of 50 samples is found at 23. `jump`, 5 unless it is set,
lets changes begin at multiples of 5 alone: binary segmentation, windows and dynamic programming say 25, PELT says 20
and 25, an episode that was not there. With jump=1 all say 23; KernelCPD says 23 as it is.

Seen: [25, 50], [25, 50], [25, 50] and [20, 25, 50]; [23, 50] of each with jump=1
"""

from pathlib import Path

from common import expect, run_finding, use_python_packages


def probe(folder: Path) -> None:
    """Look for the one step of a series."""
    use_python_packages(folder, "ruptures==1.1.10")
    import numpy
    import ruptures

    series = numpy.repeat([0.0, 10.0], [23, 27])
    for options, stated, by_pelt in (({}, [25, 50], [20, 25, 50]), ({"jump": 1}, [23, 50], [23, 50])):
        for search in (ruptures.Binseg(**options), ruptures.Window(width=10, **options), ruptures.Dynp(**options)):
            changes = [int(change) for change in search.fit(series).predict(n_bkps=1)]
            expect(changes, stated, f"changes by {type(search).__name__} with {options}")
        changes = ruptures.Pelt(model="l2", **options).fit(series).predict(pen=3)
        expect(changes, by_pelt, f"changes by Pelt with {options}")
    expect(ruptures.KernelCPD(kernel="linear").fit(series).predict(n_bkps=1), [23, 50], "changes by KernelCPD")


if __name__ == "__main__":
    run_finding(probe)
