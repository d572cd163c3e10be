"""What `plimsoll capacity` says of simulated load tests, against what is true of them: a table of shares.

    python -m tests.simulators.capacity_trials [--runs 10] [--kinds "a pool,users"] [--first 1] [--jsonl FILE]

Of each kind of system so many load tests are simulated, written as logs and read by the command. The truth is what the
simulator uses and answers where the first limit is truly reached. Prints, of each kind: how often the capacity, the
uses and the 95th percentile of response times are within 10, 10 and 30 % of the truth, and how often intervals
contain it.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.simulators.events import simulated
from tests.simulators.load_test_logs import write_logs
from tests.simulators.load_tested import KINDS, SOFTWARE, Case, at, crossing, load_tested

_LIMITS = {"cpu": 0.8, "disk": 0.9}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--jsonl", type=Path)
    given = parser.parse_args()
    told: list[dict[str, Any]] = []
    for kind in given.kinds.split(","):
        for seed in range(given.first, given.first + given.runs):
            told.append(trial(kind, seed))
            if given.jsonl:
                with given.jsonl.open("a") as file:
                    file.write(json.dumps(told[-1]) + "\n")
    print(table(told))


def trial(kind: str, seed: int) -> dict[str, Any]:
    """What was said of this load test, and what is true."""
    case = load_tested(kind, seed)
    seen = simulated(case.system, case.steps, seed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_logs(folder, case, seen, seed)
        highest = case.steps[-1].load
        if kind in SOFTWARE:
            return {"kind": kind, "seed": seed, **_said(folder, case, None), "most": at(case, highest * 1.5, 300).rate}
        first = at(case, highest, 300)
        station = max(first.uses, key=lambda name: first.uses[name] / _LIMITS[name.split()[1]])
        load = crossing(case, station, _LIMITS[station.split()[1]], highest * 0.8 / max(0.3, first.uses[station]))
        asked = min(load or highest, 1.4 * highest)
        true = at(case, asked, 900, seed=99)
        said = _said(folder, case, asked)
    return {
        "kind": kind,
        "seed": seed,
        "closed": case.think is not None,
        "highest": highest,
        "asked": asked,
        "true_station": station,
        "true_load": load,
        "true_uses": true.uses,
        "true_p95": true.p95,
        "true_rate": true.rate,
        **said,
    }


def _said(folder: Path, case: Case, asked: float | None) -> dict[str, Any]:
    arguments = ["capacity", str(folder), "--json", str(folder / "said.json")]
    if asked is not None:
        mixed = len({tuple(step.shares.values()) for step in case.steps}) > 1
        if case.think is None or mixed:
            total = 1000 / sum(case.shares.values())
            operations = ", ".join(f"{name}: {share * total:.6f}" for name, share in case.shares.items())
            about = f"think_time: {case.think}s" if case.think else "session: 1000s"
            (folder / "profile.yaml").write_text(f"title: Asked\nusers: 1\n{about}\noperations: {{{operations}}}\n")
            arguments += ["--profile", str(folder / "profile.yaml")]
        arguments += ["--users", str(asked)]
    done = subprocess.run([sys.executable, "-m", "plimsoll", *arguments], capture_output=True, text=True, check=False)
    path = folder / "said.json"
    return {"said": json.loads(path.read_text()) if path.exists() else None, "text": done.stdout + done.stderr}


def table(told: list[dict[str, Any]]) -> str:
    """A row for each kind, and one for all: `9/10` is nine of the ten of which something was said."""
    kinds = list(dict.fromkeys(one["kind"] for one in told))
    rows = [[kind, *_row([one for one in told if one["kind"] == kind])] for kind in kinds]
    rows.append(["all", *_row(told)])
    heads = ["kind", "runs", "limit right", "capacity", "interval", "use", "all uses", "intervals", "response"]
    widths = [max(len(row[at]) for row in (heads, *rows)) for at in range(len(heads))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in (heads, *rows)
    )


def _row(told: list[dict[str, Any]]) -> list[str]:
    checks: dict[str, list[bool]] = {
        name: [] for name in ("limit", "near", "covers", "use", "uses", "cover", "response")
    }
    for one in told:
        said: dict[str, Any] = one["said"] or {"limits": [], "load": {}}
        first = next(iter(said["limits"]), None)
        if one["kind"] in SOFTWARE:
            checks["limit"].append(first is not None and first["kind"] == "throughput")
            if first:
                checks["near"].append(abs(first["load"]["value"] / one["most"] - 1) <= 0.1)
            continue
        _of_resource(checks, one, said, first)
    return [str(len(told)), *(f"{sum(found)}/{len(found)}" for found in checks.values())]


def _of_resource(
    checks: dict[str, list[bool]], one: dict[str, Any], said: dict[str, Any], first: dict[str, Any] | None
) -> None:
    in_users = one["closed"] or said["load"].get("profile")
    found = first and first["users" if in_users else "load"]
    true = one["true_load"]
    if first:
        checks["limit"].append(first["kind"] == "resource")
    if found and true:
        checks["near"].append(abs(found["value"] / true - 1) <= 0.1)
        checks["covers"].append(found["low"] <= true and (found["high"] is None or true <= found["high"]))
    needs: dict[str, Any] = said.get("asked") or {"uses": [], "response_s": None}
    for use in needs["uses"]:
        station = f"{use['host']} {'cpu' if use['signal'] == 'cpu.busy' else 'disk'}"
        within = 100 * one["true_uses"][station]
        near = abs(use["value"] / within - 1) <= 0.1
        checks["uses"].append(near)
        checks["use"] += [near] if station == one["true_station"] else []
        checks["cover"].append(use["low"] <= within <= use["high"])
    if needs["response_s"]:
        checks["response"].append(abs(needs["response_s"] / one["true_p95"] - 1) <= 0.3)


if __name__ == "__main__":
    main()
