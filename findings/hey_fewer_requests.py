"""hey sends fewer requests than `-n` asks for, and its CSV has no row for a request without an answer.

hey 0.1.4. Guess: `-n 10 -c 3` sends 10 requests, the remainder by one worker. Each of the workers sends n / c,
rounded down: 9. A request that times out is in no row of the CSV and in no figure that is computed from them: a
service that answers one request in ten has the response time of that one. The CSV's times are seconds after the
start, and nothing says when that was.

Seen: 9 rows of `-n 10 -c 3`; no row of 2 requests that time out, exit code 0; columns
`response-time,...,status-code,offset`
"""

from pathlib import Path

from common import expect, install_go_program, output_of, run_finding, serve_pages


def probe(folder: Path) -> None:
    """Run hey against a quick and a slow page."""
    hey = install_go_program(folder, "github.com/rakyll/hey@v0.1.4")
    with serve_pages() as quick:
        rows = output_of([hey, "-n", "10", "-c", "3", "-o", "csv", quick]).splitlines()
    expect(len(rows) - 1, 9, "rows of 10 requests by 3 workers")
    expect(rows[0].split(",")[-2:], ["status-code", "offset"], "the last columns")
    with serve_pages(delay_s=3) as slow:
        rows = output_of([hey, "-n", "2", "-c", "2", "-t", "1", "-o", "csv", slow]).splitlines()
    expect(len(rows) - 1, 0, "rows of 2 requests that time out")


if __name__ == "__main__":
    run_finding(probe)
