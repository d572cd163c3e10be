"""Links to runs."""

from urllib.parse import quote, urlencode


def run_path(name: str) -> str:
    """Return the address of a run's page. A browser takes `.` and `..` for folders, also where they are quoted."""
    return f"/runs/{quote(name, safe='')}" if name.strip(".") else f"/runs/show?{urlencode({'run': name})}"
