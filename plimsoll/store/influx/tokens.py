"""Users, buckets and tokens of an InfluxDB; creates the three tokens of the InfluxDB in Docker.

`python -m plimsoll.store.influx.tokens FOLDER` writes each token to a file, such as FOLDER/telegraf/token; each
subfolder is a volume that only one service mounts. InfluxDB generates tokens itself, so .env cannot hold them.
"""

import json
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import quote

import urllib3
from urllib3.exceptions import HTTPError

from plimsoll.model.atomic import write_atomically
from plimsoll.model.errors import Unreachable, Unusable
from plimsoll.model.http_connections import find_last_cause

URL = "INFLUX_URL"
ORG = "INFLUX_ORG"
BUCKET = "INFLUX_BUCKET"
USERNAME = "INFLUX_USERNAME"
PASSWORD = "INFLUX_PASSWORD"
ADMIN_TOKEN = "INFLUX_ADMIN_TOKEN"
TOKEN_TELEGRAF = "INFLUX_TOKEN_TELEGRAF"
TOKEN_GRAFANA = "INFLUX_TOKEN_GRAFANA"
TOKEN_INGEST = "INFLUX_TOKEN_INGEST"
REQUIRED = (URL, ORG, BUCKET, USERNAME, PASSWORD, ADMIN_TOKEN)
FOLDERS = {TOKEN_TELEGRAF: "telegraf", TOKEN_GRAFANA: "grafana", TOKEN_INGEST: "ingest"}
_READ = frozenset({"read"})
_WRITE = frozenset({"write"})
_TIMEOUT_S = 30
# The rights of each token on the bucket. Writing includes deleting; reading includes the bucket's settings, so that
# ingest can read the retention.
RIGHTS = {
    TOKEN_TELEGRAF: ("Telegraf: write", _WRITE),
    TOKEN_GRAFANA: ("Grafana: read", _READ),
    TOKEN_INGEST: ("plimsoll ingest: read and write", _READ | _WRITE),
}


class ApiError(Exception):
    """The error that InfluxDB returned; the text is its status and message."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(f"{status}: {message}")
        self.status = status


@dataclass(frozen=True)
class Bucket:
    """The IDs of a bucket and its organization in InfluxDB's API."""

    id: str
    org_id: str


@dataclass(frozen=True)
class Api:
    """A client of InfluxDB's HTTP API, with a token."""

    url: str
    token: str = ""

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """Return the answer to an API call. Raise ApiError for an error, Unreachable without an answer."""
        headers = {"Authorization": f"Token {self.token}"} if self.token else {}
        data = None if body is None else json.dumps(body).encode()
        if data is not None:
            headers["Content-Type"] = "application/json"
        # No proxy, as the server is on this machine; no redirects, as the token is for this server.
        pools = urllib3.PoolManager(retries=False, timeout=_TIMEOUT_S)
        try:
            answer = pools.request(method, self.url + path, body=data, headers=headers, redirect=False)
        except (OSError, HTTPError) as error:
            raise Unreachable(f"{self.url}: InfluxDB does not answer: {find_last_cause(error)}") from None
        finally:
            pools.clear()
        if answer.status >= HTTPStatus.MULTIPLE_CHOICES:
            text = answer.data.decode("utf-8", errors="replace")
            with suppress(ValueError, KeyError, TypeError):
                text = str(json.loads(text)["message"])
            raise ApiError(answer.status, " ".join(text.split())[:300])
        return json.loads(answer.data) if answer.data else None

    def bucket(self, name: str) -> Bucket:
        """Return the bucket of this name."""
        bucket = self.call("GET", f"/api/v2/buckets?name={quote(name)}")["buckets"][0]
        return Bucket(bucket["id"], bucket["orgID"])

    def tokens(self) -> set[str]:
        """Return all tokens of the server; an empty set before it is set up."""
        try:
            return {token["token"] for token in self.call("GET", "/api/v2/authorizations")["authorizations"]}
        except ApiError as error:
            if error.status == HTTPStatus.UNAUTHORIZED and Api(self.url).call("GET", "/api/v2/setup")["allowed"]:
                return set()
            raise

    def add_token(self, bucket: Bucket, description: str, rights: frozenset[str]) -> str:
        """Create a token with only these rights on one bucket; return it."""
        resource = {"type": "buckets", "id": bucket.id, "orgID": bucket.org_id}
        permissions = [{"action": action, "resource": resource} for action in sorted(rights)]
        body = {"orgID": bucket.org_id, "description": description, "permissions": permissions}
        return self.call("POST", "/api/v2/authorizations", body)["token"]


def set_up(settings: dict[str, str]) -> dict[str, str]:
    """Create the missing user, bucket and tokens; return the settings with the three tokens."""
    no_token = Api(settings[URL])
    if no_token.call("GET", "/api/v2/setup")["allowed"]:
        first = {
            "username": settings[USERNAME],
            "password": settings[PASSWORD],
            "token": settings[ADMIN_TOKEN],
            "org": settings[ORG],
            "bucket": settings[BUCKET],
        }
        no_token.call("POST", "/api/v2/setup", first)
    api = Api(settings[URL], settings[ADMIN_TOKEN])
    bucket = api.bucket(settings[BUCKET])
    missing = [name for name in FOLDERS if name not in settings]
    return settings | {name: api.add_token(bucket, *RIGHTS[name]) for name in missing}


def provide_tokens(settings: Mapping[str, str], folder: Path) -> list[str]:
    """Create the tokens that have no file or that InfluxDB does not have; return their names."""
    files = {name: folder / subfolder / "token" for name, subfolder in FOLDERS.items()}
    base = {name: settings[name] for name in REQUIRED}
    valid = Api(base[URL], base[ADMIN_TOKEN]).tokens()
    tokens = {name: file.read_text("utf-8").strip() for name, file in files.items() if file.is_file()}
    tokens = {name: token for name, token in tokens.items() if token in valid}
    complete = set_up({**base, **tokens})
    created = [name for name in files if name not in tokens]
    for name in created:
        with write_atomically(files[name]) as partial:
            partial.write_text(complete[name] + "\n", "utf-8")
            # Each container runs as its own user, and no other container mounts the volume.
            partial.chmod(0o444)
    return created


def main(arguments: Sequence[str]) -> int:
    """Create the tokens; return the exit status, 0 if all three exist."""
    program = "plimsoll.store.influx.tokens"
    try:
        settings = dict(os.environ)
        for name in REQUIRED:
            if path := os.environ.get(f"{name}_FILE"):
                try:
                    settings[name] = Path(path).read_text("utf-8").strip()
                except (OSError, UnicodeDecodeError) as error:
                    raise Unusable(f"{path}: cannot be read: {error}") from None
        if len(arguments) != 1 or not all(map(settings.get, REQUIRED)):
            print(
                f"usage: {program} FOLDER, with {', '.join(REQUIRED)} in the environment; a name with _FILE gives the "
                "file of its value",
                file=sys.stderr,
            )
            return 2
        created = provide_tokens(settings, Path(arguments[0]))
    except (ApiError, Unreachable, Unusable) as error:
        print(f"{program}: {error}", file=sys.stderr)
        return 3
    print(f"made: {', '.join(created)}" if created else "all there")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
