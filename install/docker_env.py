"""Writes .env for docker compose, with new passwords: python3 install/docker_env.py [FILE].

Needs Python 3 and nothing else. An existing file is never overwritten, as its passwords may be in use.
"""

import os
import secrets
import sys


def settings() -> dict[str, str]:
    """Return what docker-compose.yml needs; `INFLUX_URL` is for commands on this machine."""
    return {
        "INFLUX_URL": "http://127.0.0.1:8086",
        "INFLUX_ORG": "plimsoll",
        "INFLUX_BUCKET": "plimsoll",
        "INFLUX_USERNAME": "plimsoll",
        "INFLUX_PASSWORD": secrets.token_urlsafe(24),
        "INFLUX_ADMIN_TOKEN": secrets.token_urlsafe(48),
        "GRAFANA_USERNAME": "admin",
        "GRAFANA_PASSWORD": secrets.token_urlsafe(24),
    }


def main(path: str = ".env") -> int:
    """Write the file, readable by its owner alone. Return the exit status."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        print(f"{path}: not written: {error.strerror}; nothing was changed", file=sys.stderr)
        return 2
    with open(descriptor, "w", encoding="utf-8") as file:
        file.write("# Written by install/docker_env.py for docker-compose.yml. Keep it secret.\n")
        file.writelines(f"{name}={value}\n" for name, value in settings().items())
    print(f"{path}: written, readable by you alone; next: docker compose up -d")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2]))
