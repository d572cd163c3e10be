"""Installs Grafana's components from npm: `python3 -m tests.grafana_components.packages`. Needs only Python and Node.

They are in the user's cache, in a folder that contains a hash of the lock file, so that a checkout has none of them.
"""

import hashlib
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from plimsoll.model.errors import Unusable
from plimsoll.model.kept import cache_folder

_HERE = Path(__file__).parent
_FILES = ("package.json", "package-lock.json", ".npmrc")
PAGE = _HERE / "page"


def folder() -> Path:
    """The folder of the packages that the lock file names."""
    inputs = hashlib.sha256(b"\n".join((_HERE / name).read_bytes() for name in _FILES))
    return cache_folder() / "grafana-components" / inputs.hexdigest()[:12]


def missing() -> str | None:
    """What is missing to draw dashboards, and what to do about it; None if nothing is."""
    if not shutil.which("node"):
        return "Node.js is not here; install Debian's nodejs and npm"
    if not folder().is_dir():
        return "Grafana's components are not here; python3 -m tests.grafana_components.packages"
    return None


def install() -> Path:
    """Install the packages unless they are there. Returns their folder, which appears only when it is complete."""
    target = folder()
    if target.is_dir():
        return target
    npm = shutil.which("npm")
    if not npm:
        raise Unusable("npm is needed to install Grafana's components; install it (Debian's packages are nodejs, npm)")
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".partial-", dir=target.parent) as partial:
        path = Path(partial, target.name)
        path.mkdir()
        for name in _FILES:
            shutil.copy(_HERE / name, path)
        done = subprocess.run([npm, "ci", "--loglevel=error"], cwd=path, check=False)
        if done.returncode != 0:
            raise Unusable(f"npm ci failed with status {done.returncode}; its output is above")
        if not target.is_dir():
            path.rename(target)
    return target


def bundle(out: Path) -> None:
    """Build the page that draws dashboards."""
    node = shutil.which("node") or "node"
    subprocess.run([node, PAGE / "build.mjs", folder(), out], check=True)
    shutil.copy(PAGE / "index.html", out)


if __name__ == "__main__":
    try:
        print(install())
    except Unusable as error:
        sys.exit(f"tests.grafana_components.packages: {error}")
