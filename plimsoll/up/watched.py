"""The parts of a running `plimsoll up` that the pages show."""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event

from plimsoll.alerting.alerts_file import AlertsFile
from plimsoll.alerting.health import Health, Progress
from plimsoll.alerting.latest_evaluation import LatestEvaluation
from plimsoll.alerting.rule_targets import Site
from plimsoll.hosts.facts import ConfiguredFacts
from plimsoll.model.times import Zone
from plimsoll.notify.test_message import TargetTester
from plimsoll.serve.limits import RequestLimits
from plimsoll.store.store import Store
from plimsoll.up.reloading import Reloaded


@dataclass(eq=False)
class Watched:
    """The parts of `plimsoll up` that pages read. `folder` is the data folder, `zone` the time zone in up.toml.

    `progress` returns the progress of the alert loop, `judged` its last evaluation, `health` the health of all hosts.
    `trials` sends test messages. `reload` reads the settings again and replaces `site` and `configured`; `reloaded` is
    the result of the last reload. `stepped` is set after each evaluation. Callbacks in `closing` are called when the
    server stops.
    """

    store: Store
    file: AlertsFile
    site: Site
    configured: ConfiguredFacts
    zone: Zone
    folder: Path
    progress: Callable[[], Progress]
    judged: Callable[[], LatestEvaluation]
    health: Callable[[], Health]
    reload: Callable[[], Reloaded] = lambda: Reloaded(0)
    reloaded: Reloaded | None = None
    trials: TargetTester = field(default_factory=TargetTester)
    limits: RequestLimits = field(default_factory=RequestLimits)
    stepped: Event = field(default_factory=Event)
    closing: ExitStack = field(default_factory=ExitStack)
