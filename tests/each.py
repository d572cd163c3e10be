"""Runs one test for each of many cases, and reports all failed cases by name."""

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any


def run_each(cases: Iterable[Any] | Callable[[], Iterable[Any]], named):
    """Call the test with every case as its first argument; it fails with a line for each case that failed.

    For tables of hundreds of rows, where a test of its own for each would take longer to list than to run. `named`
    gives the name of a case. Cases that take long to make are given as a function, which is called when they are run.
    """
    result = cases if callable(cases) else [*cases].copy

    def decorated(test):
        signature = inspect.signature(test)
        fixtures = list(signature.parameters.values())[1:]

        @functools.wraps(test)
        def run(**options):
            failed = []
            cases = [*result()]
            for case in cases:
                try:
                    test(case, **options)
                except Exception as error:
                    why = str(error) if isinstance(error, AssertionError) else repr(error)
                    failed.append(f"{named(case)}: {why}")
            assert cases, "there is no case"
            assert not failed, f"{len(failed)} of {len(cases)} failed:\n" + "\n".join(failed)

        del run.__wrapped__  # pytest would take the case for a fixture
        vars(run)["__signature__"] = signature.replace(parameters=fixtures)
        return run

    return decorated
