"""What the pages show: the parts of a running `plimsoll up`."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from hosts.facts import GivenFacts
from live.alerts_file import AlertsFile
from live.health import Health
from live.judged_now import JudgedNow
from live.limits import Limits
from live.loop import Progress
from live.planning import Site
from model.times import Zone
from store.protocol import Store


@dataclass(frozen=True)
class Watched:
    """The parts that pages read. `folder` is the data folder, `zone` the one of up.toml.

    `progress` says how far the alert loop is, `judged` what it found at its last evaluation, and `health` whether all
    is well, in words. What pages put on `closing` is called when the server is to stop.
    """

    store: Store
    file: AlertsFile
    site: Site
    given: GivenFacts
    zone: Zone
    folder: Path
    progress: Callable[[], Progress]
    judged: Callable[[], Sequence[JudgedNow]]
    health: Callable[[], Health]
    limits: Limits = field(default_factory=Limits)
    closing: ExitStack = field(default_factory=ExitStack)
