"""In k6's exported summary a threshold that holds is false, and requests that succeeded are the fails.

k6 1.8.1. Guess: `"count>0": false` is a threshold that was missed, and `http_req_failed` with 1 pass and 3 fails has
one good request. With `--summary-export`, false means that the threshold was not crossed. `http_req_failed` is a rate
of "failed is true": each failure is a pass, each good request a fail.

Seen: a threshold that holds false, one that does not true; 3 good requests and one of status 500 are 1 pass, 3 fails
"""

import json
import subprocess
from pathlib import Path

from common import expect, install_go_program, run_finding, serve_pages

_SCRIPT = """
import http from "k6/http";
export const options = { iterations: 1, thresholds: { http_reqs: ["count>0", "count>9"] } };
export default function () {
  for (const path of ["/", "/", "/", "/error"]) http.get(__ENV.ADDRESS + path);
}
"""


def probe(folder: Path) -> None:
    """Make four requests of which one fails, with a threshold that holds and one that does not."""
    k6 = install_go_program(folder, "go.k6.io/k6@v1.8.1")
    (folder / "script.js").write_text(_SCRIPT, "utf-8")
    options = ["--quiet", "--no-usage-report", "--summary-mode=legacy", "--summary-export=summary.json"]
    with serve_pages() as address:
        command = [k6, "run", *options, "-e", f"ADDRESS={address}", "script.js"]
        done = subprocess.run(command, cwd=folder, capture_output=True, check=False)
    expect(done.returncode, 99, "the exit code where a threshold is crossed")
    metrics = json.loads((folder / "summary.json").read_text("utf-8"))["metrics"]
    expect(metrics["http_reqs"]["thresholds"], {"count>0": False, "count>9": True}, "thresholds")
    failed = metrics["http_req_failed"]
    expect([failed["passes"], failed["fails"]], [1, 3], "passes and fails of http_req_failed")


if __name__ == "__main__":
    run_finding(probe)
