"""The part of InfluxDB's HTTP API for setting up a server: users, buckets, tokens."""

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import urllib3
from urllib3.exceptions import HTTPError

from plimsoll.model.errors import Unreachable
from plimsoll.model.http_connections import check_connections, last_cause
from plimsoll.native import settings as names

READ = frozenset({"read"})
WRITE = frozenset({"write"})
_TIMEOUT_S = 30

# The rights of each token on the bucket. Writing includes deleting; reading includes the bucket's settings, so that
# ingest can see the retention.
RIGHTS = {
    names.TOKEN_TELEGRAF: ("Telegraf: write", WRITE),
    names.TOKEN_GRAFANA: ("Grafana: read", READ),
    names.TOKEN_INGEST: ("plimsoll ingest: read and write", READ | WRITE),
}


class Refused(Exception):
    """InfluxDB answered with an error; the text is its status and message."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(f"{status}: {message}")
        self.status = status


@dataclass(frozen=True)
class Bucket:
    """A bucket, by its IDs in InfluxDB's API."""

    id: str
    org_id: str


@dataclass(frozen=True)
class Api:
    """An InfluxDB's HTTP API, called with a token.

    `check` is called on each connection before anything is sent; it raises OSError if another server answers.
    """

    url: str
    token: str = ""
    check: Callable[[], None] = lambda: None

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """Call the API and return the answer. Refused if that is an error, Unreachable if there is none."""
        headers = {"Authorization": f"Token {self.token}"} if self.token else {}
        data = None if body is None else json.dumps(body).encode()
        if data is not None:
            headers["Content-Type"] = "application/json"
        # Without proxies, as the server is on this machine; no redirect is followed, as the token is for this server.
        pools = urllib3.PoolManager(retries=False, timeout=_TIMEOUT_S)
        check_connections(pools, self.check)
        try:
            answer = pools.request(method, self.url + path, body=data, headers=headers, redirect=False)
        except (OSError, HTTPError) as error:
            raise Unreachable(f"{self.url}: InfluxDB does not answer: {last_cause(error)}") from None
        finally:
            pools.clear()
        if answer.status >= HTTPStatus.MULTIPLE_CHOICES:
            raise Refused(answer.status, _said(answer.data))
        return json.loads(answer.data) if answer.data else None

    def healthy(self) -> bool:
        """Whether the server reports that it is healthy."""
        try:
            return self.call("GET", "/health")["status"] == "pass"
        except (Refused, Unreachable, ValueError):
            return False

    def bucket(self, name: str) -> Bucket:
        """The bucket of this name."""
        found = self.call("GET", f"/api/v2/buckets?name={quote(name)}")["buckets"][0]
        return Bucket(found["id"], found["orgID"])

    def add_bucket(self, beside: Bucket, name: str, retention_s: int = 0) -> Bucket:
        """Create a bucket in the organisation of another one."""
        body = {"orgID": beside.org_id, "name": name, "retentionRules": retention_rules(retention_s)}
        return Bucket(self.call("POST", "/api/v2/buckets", body)["id"], beside.org_id)

    def tokens(self) -> set[str]:
        """All tokens of the server; none before it is set up."""
        try:
            return {found["token"] for found in self.call("GET", "/api/v2/authorizations")["authorizations"]}
        except Refused as error:
            if (
                error.status == HTTPStatus.UNAUTHORIZED
                and Api(self.url, check=self.check).call("GET", "/api/v2/setup")["allowed"]
            ):
                return set()
            raise

    def add_token(self, bucket: Bucket, description: str, rights: frozenset[str]) -> str:
        """Create a token with only these rights, on one bucket."""
        resource = {"type": "buckets", "id": bucket.id, "orgID": bucket.org_id}
        permissions = [{"action": action, "resource": resource} for action in sorted(rights)]
        body = {"orgID": bucket.org_id, "description": description, "permissions": permissions}
        return self.call("POST", "/api/v2/authorizations", body)["token"]


def set_up(
    settings: dict[str, str], retention_s: int | None = None, check: Callable[[], None] = lambda: None
) -> dict[str, str]:
    """Create the user, bucket and tokens that are missing, and return the settings with the three tokens.

    `retention_s` is how long the bucket keeps data: 0 for ever, None leaves it unchanged. `check` is as in `Api`.
    """
    no_token = Api(settings[names.URL], check=check)
    if no_token.call("GET", "/api/v2/setup")["allowed"]:
        first = {
            "username": settings[names.USERNAME],
            "password": settings[names.PASSWORD],
            "token": settings[names.ADMIN_TOKEN],
            "org": settings[names.ORG],
            "bucket": settings[names.BUCKET],
        }
        no_token.call("POST", "/api/v2/setup", first)
    api = Api(settings[names.URL], settings[names.ADMIN_TOKEN], check)
    bucket = api.bucket(settings[names.BUCKET])
    if retention_s is not None:
        api.call("PATCH", f"/api/v2/buckets/{bucket.id}", {"retentionRules": retention_rules(retention_s)})
    missing = [name for name in names.TOKENS if name not in settings]
    return settings | {name: api.add_token(bucket, *RIGHTS[name]) for name in missing}


def _said(body: bytes) -> str:
    """The message of an error response, in one line."""
    text = body.decode("utf-8", errors="replace")
    with suppress(ValueError, KeyError, TypeError):
        text = str(json.loads(text)["message"])
    return " ".join(text.split())[:300]


def retention_rules(retention_s: int) -> list[dict[str, Any]]:
    """The retention rules of a bucket, as InfluxDB's API takes them; 0 is for ever.

    The length of shards is InfluxDB's default; shards longer than the retention are refused.
    """
    hour, day = 3600, 86400
    shard = hour if 0 < retention_s < 2 * day else day if 0 < retention_s < 180 * day else 7 * day
    return [{"type": "expire", "everySeconds": retention_s, "shardGroupDurationSeconds": shard}]
