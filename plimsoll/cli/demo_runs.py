"""Loads the simulated runs into the store of a demo."""

import tempfile
from pathlib import Path

from plimsoll.demo.runs import write_runs
from plimsoll.hosts.run_to_store import run_to_store
from plimsoll.ingest.files.find_logs import find_logs
from plimsoll.ingest.read import read_files
from plimsoll.ingest.reading import Reading
from plimsoll.ingest.runs.load import load
from plimsoll.store.store import Store


def load_demo_runs(store: Store) -> None:
    """Load both runs, named by the memory of their database server; nothing is done if they are there."""
    with tempfile.TemporaryDirectory(prefix="plimsoll-demo-runs-", ignore_cleanup_errors=True) as folder:
        for logs in write_runs(Path(folder)):
            found = read_files(find_logs([logs]), Reading(), whole=True)
            load(store, run_to_store(found, f"demo {logs.name}", {}, None, None), found.logs)
