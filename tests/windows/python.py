"""A Python for Windows, to run under Wine: `python3 -m tests.windows.python` fetches it with Maven.

It is the one that JavaCPP's presets pack for programs of Java; it has the whole standard library.
"""

import hashlib
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from plimsoll.model.errors import Unusable
from plimsoll.model.kept import cache_folder
from tests.telegraf import wine

_VERSION = "3.11.3-1.5.9"
_SHA256 = "3263a50b256447bb7b9e604d6587627e419891370fc33b94469e6a06ff4de834"
_INSIDE = "org/bytedeco/cpython/windows-x86_64"
_CHECKOUT = Path(__file__).parents[2]


def missing() -> str | None:
    """What is missing to run Python for Windows, and what to do about it; None if nothing is."""
    if lacks := wine.missing_packages():
        return lacks
    return None if _folder().is_dir() else "python3 -m tests.windows.python"


def run(script: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A script, which may import this checkout: its status, and what it said."""
    return wine.run(_folder() / _INSIDE / "python.exe", f"Z:{script}", *arguments, environment=environment())


def environment() -> dict[str, str]:
    """The environment variables of Python."""
    return {"PYTHONPATH": f"Z:{_CHECKOUT}", "PYTHONUTF8": "1", "PYTHONDONTWRITEBYTECODE": "1"}


def program() -> Path:
    """python.exe."""
    return _folder() / _INSIDE / "python.exe"


def install() -> None:
    """Fetch it unless it is there."""
    target = _folder()
    if target.is_dir():
        return
    maven = shutil.which("mvn")
    if not maven:
        raise Unusable("Maven is needed to fetch Python for Windows; install it (Debian's package is maven)")
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".partial-", dir=target.parent) as partial:
        artifact = f"org.bytedeco:cpython:{_VERSION}:jar:windows-x86_64"
        done = subprocess.run(
            [maven, "-q", "-B", "dependency:copy", f"-Dartifact={artifact}", f"-DoutputDirectory={partial}"],
            check=False,
        )
        jar = Path(partial, f"cpython-{_VERSION}-windows-x86_64.jar")
        if done.returncode != 0 or not jar.is_file():
            raise Unusable(f"Maven cannot fetch {artifact}; its output is above")
        if (hexdigest := hashlib.sha256(jar.read_bytes()).hexdigest()) != _SHA256:
            raise Unusable(f"{artifact}: is not the file that was tried: its SHA-256 is {hexdigest}")
        with zipfile.ZipFile(jar) as packed:
            packed.extractall(Path(partial, "python"))
        Path(partial, "python").rename(target)


def _folder() -> Path:
    return cache_folder() / "native" / f"python-for-windows-{_VERSION}"


if __name__ == "__main__":
    try:
        install()
    except Unusable as error:
        sys.exit(f"error: {error}")
