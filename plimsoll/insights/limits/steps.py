"""What to do about what limits a run, where its figures tell."""

import numpy as np

from plimsoll.insights.limits.find import Limit
from plimsoll.insights.limits.measured import median_in
from plimsoll.insights.limits.resource_use import ONE_PROCESS, ONE_PROCESSOR, SQL_CACHE, STOLEN
from plimsoll.model.value_text import quantity

# Our choices: the shares of the target that SQL Server uses at least, and that its host has available at least.
_ALL_OF_IT = 0.98
_TO_SPARE = 0.5


def step(limit: Limit | None) -> str:
    """What to do next, in a sentence; empty if the figures do not tell."""
    use = limit.limiting if limit is not None else None
    if limit is None or use is None:
        return ""
    if use.what == SQL_CACHE:
        return _more_for_sql_server(limit, use.host)
    if use.what == STOLEN:
        return f"Ask who runs the hypervisor of {use.host} for more processor time, or move it."
    if use.what in (ONE_PROCESS, ONE_PROCESSOR) and use.process:
        return f"More processors do not help {use.process}: it needs a faster one, or its work in several threads."
    return ""


def _more_for_sql_server(limit: Limit, host: str) -> str:
    """To let SQL Server use more memory, where it uses all it may and its host has much to spare."""
    target, total, available = (
        _at_the_highest_load(limit, signal, host)
        for signal in ("sql.target_memory", "sql.total_memory", "memory.available")
    )
    if not (total >= _ALL_OF_IT * target and available >= _TO_SPARE * target):  # NaN is neither
        return ""
    return (
        f"Raise max server memory: SQL Server uses all {quantity(target, 'bytes')} that it may, and {host} has "
        f"{quantity(available, 'bytes')} available."
    )


def _at_the_highest_load(limit: Limit, signal: str, host: str) -> float:
    """The value of a signal without instances; NaN if it was not recorded."""
    measured = limit.evidence.measured
    if signal not in measured.review.question.signals:
        return np.nan
    found = measured.one(signal, host)
    return median_in(found[1], limit.load.top) if found is not None else np.nan
