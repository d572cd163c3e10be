"""Serves the page, the icons and fonts of Grafana's components, and the answers of an InfluxDB and a Prometheus."""

import json
from collections.abc import Generator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import urlencode

import urllib3

from tests.conftest import Bucket
from tests.grafana_components.packages import folder

# What the components ask for, and where it is in the packages.
_IN_PACKAGES = {
    "/public/build/img/icons/": "@grafana/ui/dist/public/img/icons/",
    "/public/fonts/inter/Inter-Regular.woff2": "@fontsource/inter/files/inter-latin-400-normal.woff2",
    "/public/fonts/inter/Inter-Medium.woff2": "@fontsource/inter/files/inter-latin-500-normal.woff2",
    "/public/fonts/inter/Inter-Italic.woff2": "@fontsource/inter/files/inter-latin-400-italic.woff2",
    "/public/fonts/roboto/": "@fontsource/roboto-mono/files/roboto-mono-latin-400-normal.woff2?",
}

_Request = tuple[str, dict[str, str], dict[str, str]]  # address, form, headers


class _Handler(SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def __init__(
        self, connections: urllib3.PoolManager, bucket: Bucket, prometheus: str, *arguments: Any, **named: Any
    ):
        self._connections = connections
        self._bucket = bucket
        self._prometheus = prometheus
        super().__init__(*arguments, **named)

    def translate_path(self, path: str) -> str:
        for start, place in _IN_PACKAGES.items():
            if path.startswith(start):
                return str(folder() / "node_modules" / (place + path.removeprefix(start)).partition("?")[0])
        return super().translate_path(path)

    def do_POST(self) -> None:
        """Answer a query, as Grafana's server does for its data source."""
        query = self.rfile.read(int(self.headers["Content-Length"])).decode()
        address, result, headers = (
            self._of_prometheus(query) if self.path.startswith("/prometheus") else self._of_influx(query)
        )
        headers = {**headers, "Content-Type": "application/x-www-form-urlencoded"}
        answer = self._connections.request("POST", address, body=urlencode(result), headers=headers, retries=False)
        body = answer.data or json.dumps({"error": f"status {answer.status}"}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _of_influx(self, query: str) -> _Request:
        address = f"{self._bucket.url}/query?{urlencode({'db': self._bucket.bucket, 'epoch': 'ms'})}"
        return address, {"q": query}, {"Authorization": f"Token {self._bucket.grafana_token}"}

    def _of_prometheus(self, query: str) -> _Request:
        path, result = json.loads(query)
        return f"{self._prometheus}/api/v1/{path}", result, {}

    def log_message(self, format: str, *args: Any) -> None:
        """Stay silent."""


@contextmanager
def serving(built: Path, bucket: Bucket, prometheus: str = "") -> Generator[str]:
    """Serve the page built in a folder; `prometheus` is the address of one. Yields the page's address."""
    connections = urllib3.PoolManager(maxsize=16, timeout=300)
    handler = partial(_Handler, connections, bucket, prometheus, directory=str(built))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/index.html"
    finally:
        server.shutdown()
        server.server_close()
        connections.clear()
