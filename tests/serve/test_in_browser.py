"""The page in a real browser, and pages of others that try to reach the server through it."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

ATTACK = """<!doctype html><title>Attack</title>
<form id="form" method="post" enctype="text/plain" action="{url}/api/v2/write?org=o&bucket=b" target="frame">
<input name="cpu,host=evil v" value="1"></form><iframe name="frame" id="frame"></iframe>
<img src="{url}/"><iframe src="{url}/"></iframe>
<script>
const write = "{url}/api/v2/write?org=o&bucket=b";
const tried = [
  fetch(write, {{method: "POST", mode: "no-cors", body: "cpu,host=evil v=1"}}),
  fetch(write, {{method: "POST", body: "cpu,host=evil v=1", headers: {{"Content-Type": "text/plain"}}}}),
  fetch("{url}/").then((answer) => answer.text()).then((text) => {{ window.read = text; }}),
];
navigator.sendBeacon(write, "cpu,host=evil v=1");
document.getElementById("form").submit();
Promise.allSettled(tried).then(() => setTimeout(() => {{ document.title = "Done"; }}, 500));
</script>"""


@pytest.fixture
def attacker(here):
    """The address of a page of others, on another port of this machine."""

    class Page(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(ATTACK.format(url=here.address).encode())

        def log_message(self, format, *args):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Page)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server.server_port
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost"])
def test_a_page_of_others_writes_and_reads_nothing(name, chromium, attacker, here):
    page = chromium.new_page()
    page.goto(f"http://{name}:{attacker}/")
    page.wait_for_function("document.title === 'Done'")
    assert page.evaluate("window.read") is None
    page.close()
    assert here.writing.state.values == 0
    assert here.post(b"cpu v=1").status == 204
