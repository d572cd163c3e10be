"""Creates the three tokens of an InfluxDB in Docker: `python3 -m plimsoll.native.tokens FOLDER`.

InfluxDB generates tokens itself, so .env cannot contain them beforehand. Each is written to a file, such as
FOLDER/telegraf/token; each of these folders is a volume that only one service mounts.
"""

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from plimsoll.model.atomic import atomic_write
from plimsoll.model.errors import Unreachable, Unusable
from plimsoll.native import settings as names
from plimsoll.native.influx_api import Api, Refused, set_up

FOLDERS = {names.TOKEN_TELEGRAF: "telegraf", names.TOKEN_GRAFANA: "grafana", names.TOKEN_INGEST: "ingest"}


def provide(settings: Mapping[str, str], folder: Path) -> list[str]:
    """Create the tokens that have no file or that InfluxDB does not know. Returns their names."""
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
            # Each container runs as its own user, and no other container mounts the volume.
            partial.chmod(0o444)
    return made


def with_files(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment, with the content of the file that NAME_FILE names as NAME. Unusable if one cannot be read."""
    found = dict(environment)
    for name in names.REQUIRED:
        if path := environment.get(f"{name}_FILE"):
            try:
                found[name] = Path(path).read_text("utf-8").strip()
            except (OSError, UnicodeDecodeError) as error:
                raise Unusable(f"{path}: cannot be read: {error}") from None
    return found


def main(arguments: Sequence[str]) -> int:
    """Create the tokens. Returns the exit status: 0 if all three exist."""
    try:
        settings = with_files(os.environ)
        if len(arguments) != 1 or not all(map(settings.get, names.REQUIRED)):
            print(
                f"usage: plimsoll.native.tokens FOLDER, with {', '.join(names.REQUIRED)} in the environment; a name "
                "with _FILE gives the file of its value",
                file=sys.stderr,
            )
            return 2
        made = provide(settings, Path(arguments[0]))
    except (Refused, Unreachable, Unusable) as error:
        print(f"plimsoll.native.tokens: {error}", file=sys.stderr)
        return 3
    print(f"made: {', '.join(made)}" if made else "all there")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
