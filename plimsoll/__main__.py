"""`python -m plimsoll`, and the program `plimsoll`."""

import gc
import os
import sys

from plimsoll.cli import defects

# Nearly all that is made stays until the end, or goes without a collector: looking less often saves a tenth.
COLLECTING = (200_000, 50, 50)
# Before numpy is imported: its products are of some million numbers, which two threads compute no sooner than one, and
# the one that has no more to do waits at full speed. That was a fifth of a review.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def main() -> None:
    """Run the command line and exit with its status; report a defect if its modules cannot be imported."""
    gc.set_threshold(*COLLECTING)
    # No plugin of another package has a say in what is valid, nor is one looked for in all that is installed.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    try:
        from plimsoll.cli import cli  # noqa: PLC0415  an incomplete installation must not end with status 1
    except Exception as error:
        sys.exit(defects.report(error))
    try:
        cli.main()
    finally:
        # What is left goes with the process: not looked at once more, which takes a tenth of a review. But DuckDB would
        # print a line for each of its own objects.
        if "duckdb" not in sys.modules:
            gc.freeze()


if __name__ == "__main__":
    main()
