"""Worker processes that begin with everything imported, which takes each of them most of its time otherwise.

They are forked by a process that has imported this module. That a worker starts as a
program of its own is tested where one is killed.
"""

import multiprocessing
import os
import sys
from multiprocessing.connection import Connection

from plimsoll.pages.review_jobs import worker
from plimsoll.report.render import html as page_renderer

_PROCESSES = multiprocessing.get_context("forkserver")
_PROCESSES.set_forkserver_preload([__name__])


def _work(task: Connection, connection: Connection) -> None:
    """What a forked process does: the worker's work, with its own standard input and output."""
    os.dup2(task.fileno(), 0)
    os.dup2(connection.fileno(), 1)
    connection.close()
    with open(0, encoding="utf-8", closefd=False) as sys.stdin, open(1, "w", encoding="utf-8") as sys.stdout:
        worker.main()


class ForkedWorker:
    """A worker that was started, used as the `subprocess.Popen` of a server is."""

    def __init__(self) -> None:
        (theirs, task), (pipe_connection, says) = _PROCESSES.Pipe(duplex=False), _PROCESSES.Pipe(duplex=False)
        with theirs, task, pipe_connection, says:
            self._process = _PROCESSES.Process(target=_work, args=(theirs, says), daemon=True)
            self._process.start()
            self.stdin = os.fdopen(os.dup(task.fileno()), "wb")
            self.stdout = os.fdopen(os.dup(pipe_connection.fileno()), "rb")

    def __enter__(self) -> "ForkedWorker":
        return self

    def __exit__(self, *_: object) -> None:
        self.stdout.close()
        try:
            self.stdin.close()
        finally:
            self.wait()

    def kill(self) -> None:
        """End it at once."""
        self._process.kill()

    def wait(self) -> int:
        """Its exit status, once it has ended."""
        self._process.join()
        return self._process.exitcode or 0


page_renderer._make_environment()
