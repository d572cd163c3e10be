"""The settings of exporters that are asked for their metrics."""

import re
from base64 import b64encode
from collections.abc import Iterator
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, field_validator, model_validator

from plimsoll.model.times import SECOND
from plimsoll.notify.settings.fields import Duration, Name, Strict
from plimsoll.receive.exporters.scrape import Target
from plimsoll.rules.grid import EVERY


class ScrapeSettings(Strict):
    """Exporters of Prometheus that are asked for their metrics: `app01:9100`, or an address of HTTP.

    `labels` are added to each metric; the label `host` names the host. `host_label`: the label of one of the metrics
    whose value names it. By default it is the name in the address.
    """

    targets: tuple[Name, ...] = Field(min_length=1)
    labels: dict[str, str] = Field(default={})
    interval: Duration = EVERY
    host_label: Name | None = None
    user: str = ""
    password: SecretStr | None = None
    token: SecretStr | None = None
    ca: Name | None = None

    @field_validator("targets")
    @classmethod
    def _are_addresses(cls, targets: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(_scraped(target) for target in targets)

    @field_validator("interval")
    @classmethod
    def _on_the_grid(cls, interval: int) -> int:
        if interval < EVERY or interval % EVERY or interval > 300 * SECOND:
            raise ValueError("is no multiple of 10s up to 5m")
        return interval

    @model_validator(mode="after")
    def _is_clear(self) -> "ScrapeSettings":
        if "host" in self.labels and len(self.targets) > 1:
            raise ValueError("labels.host names one host, and there are several targets; give each its own [[scrape]]")
        if self.token and self.password:
            raise ValueError("has a token and a password; an exporter takes one of them")
        return self

    @property
    def asked(self) -> Iterator[Target]:
        """What is to be asked."""
        authorization = ""
        if self.token:
            authorization = f"Bearer {self.token.get_secret_value()}"
        elif self.password:
            pair = f"{self.user}:{self.password.get_secret_value()}".encode()
            authorization = f"Basic {b64encode(pair).decode()}"
        for url in self.targets:
            yield Target(url, self.interval, self.labels, self.host_label, authorization, self.ca)


def _scraped(target: str) -> str:
    """The address of a target, with the path that is usual where it has none."""
    url = target if "://" in target else f"http://{target}"
    try:
        parts = urlsplit(url)
        named = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        named = False
    if not named or "@" in url or re.search(r"\s", url):
        raise ValueError(f'"{target}" is no target; write it like app01:9100, or http://app01:9100/metrics')
    return url if urlsplit(url).path not in ("", "/") else f"{url.rstrip('/')}/metrics"
