"""The three tokens of an InfluxDB that Docker runs: `python3 -m native.tokens FOLDER`, called by docker-compose.yml.

InfluxDB chooses the text of tokens itself, so they cannot be in .env before it runs. Each is put into a file,
FOLDER/telegraf/token and so on, each folder being a volume that one service alone sees.
"""

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from model.atomic import atomic_write
from model.errors import Unreachable, Unusable
from native import settings as names
from native.influx_api import Api, Refused, set_up

FOLDERS = {names.TOKEN_TELEGRAF: "telegraf", names.TOKEN_GRAFANA: "grafana", names.TOKEN_INGEST: "ingest"}


def provide(settings: Mapping[str, str], folder: Path) -> list[str]:
    """The names of the tokens that were made: those that are not in their file, or that InfluxDB does not know."""
    files = {name: folder / place / "token" for name, place in FOLDERS.items()}
    base = {name: settings[name] for name in names.REQUIRED}
    known = Api(base[names.URL], base[names.ADMIN_TOKEN]).tokens()
    kept = {name: file.read_text("utf-8").strip() for name, file in files.items() if file.is_file()}
    kept = {name: token for name, token in kept.items() if token in known}
    complete = set_up({**base, **kept})
    made = [name for name in files if name not in kept]
    for name in made:
        with atomic_write(files[name]) as partial:
            partial.write_text(complete[name] + "\n", "utf-8")
            # Each container has a user of its own, and no other container sees the volume.
            partial.chmod(0o444)
    return made


def main(arguments: Sequence[str]) -> int:
    """The exit status: 0 once all three are there."""
    missing = [name for name in names.REQUIRED if not os.environ.get(name)]
    if missing or len(arguments) != 1:
        print(f"usage: native.tokens FOLDER, with {', '.join(names.REQUIRED)} in the environment", file=sys.stderr)
        return 2
    try:
        made = provide(os.environ, Path(arguments[0]))
    except (Refused, Unreachable, Unusable) as error:
        print(f"native.tokens: {error}", file=sys.stderr)
        return 3
    print(f"made: {', '.join(made)}" if made else "all there")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
