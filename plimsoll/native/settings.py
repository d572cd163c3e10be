"""The settings of an InfluxDB, including secrets, as environment variables in a file of mode 0600."""

import secrets
from collections.abc import Mapping
from pathlib import Path

from plimsoll.model.atomic import atomic_write
from plimsoll.model.errors import Unusable

URL = "INFLUX_URL"
ORG = "INFLUX_ORG"
BUCKET = "INFLUX_BUCKET"
USERNAME = "INFLUX_USERNAME"
PASSWORD = "INFLUX_PASSWORD"
ADMIN_TOKEN = "INFLUX_ADMIN_TOKEN"
TOKEN_TELEGRAF = "INFLUX_TOKEN_TELEGRAF"
TOKEN_GRAFANA = "INFLUX_TOKEN_GRAFANA"
TOKEN_INGEST = "INFLUX_TOKEN_INGEST"
TOKENS = (TOKEN_TELEGRAF, TOKEN_GRAFANA, TOKEN_INGEST)
REQUIRED = (URL, ORG, BUCKET, USERNAME, PASSWORD, ADMIN_TOKEN)
GRAFANA_USERNAME = "GRAFANA_USERNAME"
GRAFANA_PASSWORD = "GRAFANA_PASSWORD"


def generated(url: str) -> dict[str, str]:
    """The settings of a new InfluxDB, with new secrets. The three tokens are added when it is set up."""
    return {
        URL: url,
        ORG: "plimsoll",
        BUCKET: "plimsoll",
        USERNAME: "plimsoll",
        PASSWORD: secrets.token_urlsafe(24),
        ADMIN_TOKEN: secrets.token_urlsafe(48),
    }


def for_docker() -> dict[str, str]:
    """The settings for docker-compose.yml; `INFLUX_URL` is for commands on the host."""
    return generated("http://127.0.0.1:8086") | {
        GRAFANA_USERNAME: "admin",
        GRAFANA_PASSWORD: secrets.token_urlsafe(24),
    }


def read(path: Path) -> dict[str, str]:
    """Read settings from a file, one NAME=value per line. Unusable if it cannot be read or one is missing."""
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or error
        raise Unusable(f"{path}: cannot be read: {reason}") from None
    settings: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        if not line or line.startswith("#"):
            continue
        name, equals, value = line.partition("=")
        if not equals:
            raise Unusable(f"{path}:{number}: not NAME=value; correct it, or move the folder away to start afresh")
        settings[name] = value
    if missing := set(REQUIRED) - set(settings):
        raise Unusable(f"{path}: {min(missing)} is missing; add it, or move the folder away to start afresh")
    return settings


def write(path: Path, settings: Mapping[str, str], head: str) -> None:
    """Write settings under a comment, to a file that only its owner can read."""
    text = f"# {head}\n" + "".join(f"{name}={value}\n" for name, value in settings.items())
    with atomic_write(path) as partial:
        # Set the mode before writing the secrets.
        partial.chmod(0o600)
        partial.write_text(text, "utf-8")
