"""How often a comparison of runs that differ as runs of one build do is wrong, and what it finds.

python -m bench.run_to_run [TRIALS [NAME...]]: each trial is a comparison of runs of tests/simulators; one process.
"""

import sys
from collections import Counter
from collections.abc import Callable

from plimsoll.comparison.story import answer
from tests.simulators.trials import a_side, against
from tests.simulators.web_and_sql import Build

_USUAL = Build()


def _costing(factor: float) -> Build:
    return Build(cpu_ms=factor * _USUAL.cpu_ms, sql_cpu_ms=factor * _USUAL.sql_cpu_ms)


# The build, the number of baselines, the answer that is counted, and how many of 100 may or must have it.
_TRIALS: dict[str, tuple[Build, int, str, Callable[[float], bool], str]] = {
    "alike": (_USUAL, 1, "worse", lambda share: share <= 0.05, "at most 5"),
    "alike-5": (_USUAL, 5, "worse", lambda share: share <= 0.02, "at most 2"),
    "load": (Build(load=440.0), 1, "worse", lambda share: share <= 0.05, "at most 5"),
    "noise": (Build(noise=0.10), 1, "not-worse", lambda share: share <= 0.20, "at most 20"),
    "less-load": (Build(load=360.0), 1, "worse", lambda share: share <= 0.05, "at most 5"),
    "cpu-10": (_costing(1.10), 10, "worse", lambda share: share >= 0.80, "at least 80"),
    "cpu-15": (_costing(1.15), 5, "worse", lambda share: share >= 0.75, "at least 75"),
}


def main() -> None:
    """Print a line for each trial."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    failed = False
    for name in sys.argv[2:] or _TRIALS:
        build, baselines, counted, holds, bar = _TRIALS[name]
        said = Counter(_answer(build, baselines, seed) for seed in range(count))
        share = said[counted] / count
        failed |= not holds(share)
        print(f"{name:10} {counted} {said[counted]} of {count} ({bar} of 100); {dict(said)}", flush=True)
    sys.exit(failed)


def _answer(build: Build, baselines: int, seed: int) -> str:
    runs = [a_side("a", _USUAL, 1000 * seed + at) for at in range(baselines)]
    return answer(against(runs, a_side("b", build, 1000 * seed + 999))).value


if __name__ == "__main__":
    main()
