"""How `plimsoll up` is to run."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from starlette.routing import BaseRoute

from plimsoll.alerting.loop import DELAY
from plimsoll.alerting.rule_targets import Site
from plimsoll.hosts.facts import GivenFacts
from plimsoll.model.errors import Unusable
from plimsoll.serve.listen import Listen, PublicAddress
from plimsoll.serve.serving import Certificate
from plimsoll.up import settings as up_settings
from plimsoll.up.settings import UpSettings
from plimsoll.up.sources import Source
from plimsoll.up.watched import Watched


@dataclass(frozen=True)
class Setup:
    """How to run.

    `sources` are asked for points every 10 s; `host` is the name under which one of them collects this computer.
    `delay` (ns) is how long after its time an evaluation is performed. `pages` makes the pages to serve. `url` is the
    address under which people reach it, where that is not the one it listens on. `read` reads plimsoll.toml anew.
    `silent` says which counters of this computer have not answered, and for how many seconds.
    """

    folder: Path
    listen: Listen = field(default_factory=Listen)
    sources: Sequence[Source] = ()
    host: str | None = None
    certificate: Certificate | None = None
    allowed_hosts: Sequence[str] = ()
    delay: int = DELAY
    pages: Callable[[Watched], Sequence[BaseRoute]] = lambda _: ()
    url: PublicAddress | None = None
    read: Callable[[], tuple[Site, GivenFacts]] | None = None
    silent: Callable[[], Mapping[str, float]] = dict

    @property
    def names(self) -> list[str]:
        """The names by which clients call it, but those of the address that it listens on."""
        public = self.url.host if self.url and not self.url.is_loopback else None
        return [*self.allowed_hosts, *([public] if public else [])]

    def check_login(self, settings: UpSettings) -> None:
        """Unusable if others than this machine are to reach it by a name, through a proxy, and need no login."""
        if self.names and self.listen.is_loopback and settings.login != "always":
            raise Unusable(
                f"{', '.join(self.names)}: leads here only through a proxy, whose clients would need no "
                f'login: write login = "always" into {self.folder / up_settings.FILE_NAME}'
            )
        if settings.proxy and self.listen.is_loopback and settings.login != "always":
            raise Unusable(
                f'{self.folder / up_settings.FILE_NAME}: proxy: what it passes on needs login = "always", or whoever '
                "names nobody would need no login"
            )
