"""Serves the page, the icons and fonts of Grafana's components, and the answers of an InfluxDB and a Prometheus."""

import json
from collections.abc import Generator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

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


class _Handler(SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def __init__(self, bucket: Bucket, prometheus: str, *given: Any, **named: Any):
        self._bucket = bucket
        self._prometheus = prometheus
        super().__init__(*given, **named)

    def translate_path(self, path: str) -> str:
        for start, place in _IN_PACKAGES.items():
            if path.startswith(start):
                return str(folder() / "node_modules" / (place + path.removeprefix(start)).partition("?")[0])
        return super().translate_path(path)

    def do_POST(self) -> None:
        """Answer a query, as Grafana's server does for its data source."""
        query = self.rfile.read(int(self.headers["Content-Length"])).decode()
        request = self._of_prometheus(query) if self.path.startswith("/prometheus") else self._of_influx(query)
        request.add_header("Content-Type", "application/x-www-form-urlencoded")
        try:
            with urlopen(request, timeout=300) as response:
                body = response.read()
        except HTTPError as error:
            body = error.read() or json.dumps({"error": str(error)}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _of_influx(self, query: str) -> Request:
        address = f"{self._bucket.url}/query?{urlencode({'db': self._bucket.bucket, 'epoch': 'ms'})}"
        return Request(
            address, urlencode({"q": query}).encode(), {"Authorization": f"Token {self._bucket.grafana_token}"}
        )

    def _of_prometheus(self, query: str) -> Request:
        path, given = json.loads(query)
        return Request(f"{self._prometheus}/api/v1/{path}", urlencode(given).encode())

    def log_message(self, format: str, *args: Any) -> None:
        """Stay silent."""


@contextmanager
def serving(built: Path, bucket: Bucket, prometheus: str = "") -> Generator[str]:
    """Serve the page built in a folder; `prometheus` is the address of one. Yields the page's address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, bucket, prometheus, directory=str(built)))
    server.daemon_threads = True
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/index.html"
    finally:
        server.shutdown()
        server.server_close()
