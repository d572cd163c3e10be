"""The proxy's configuration of docs/security.md, in Debian's nginx."""

import base64
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import urllib3

from plimsoll.serve.credentials import create_password, create_token
from tests.conftest import free_port, lacking
from tests.serve.site import site

NAME = "plimsoll.example.org"
DOCUMENT = Path(__file__).parents[2] / "docs" / "security.md"


@pytest.fixture
def nginx():
    which = shutil.which("nginx", path="/usr/sbin:/usr/bin:/usr/local/bin:/opt/homebrew/bin")
    if not (which and shutil.which("openssl")):
        lacking("nginx", "on Debian: apt install nginx-light")
    return which


@pytest.fixture
def proxied(nginx, duckdb, tmp_path):
    """A server behind nginx, and a function that asks nginx for a path under the server's name."""
    chain, key, port = tmp_path / "chain.pem", tmp_path / "key.pem", free_port()
    entries = ("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", f"/CN={NAME}", "-addext")
    files = ("-keyout", str(key), "-out", str(chain))
    subprocess.run(["openssl", *entries, f"subjectAltName=DNS:{NAME}", *files], check=True, capture_output=True)
    with site(duckdb, tmp_path / "data", login=True, hosts=[NAME]) as here:
        (block,) = re.findall(r"```nginx\n(.*?)```", DOCUMENT.read_text("utf-8"), re.S)
        for written, ours in (
            ("listen 443 ssl", f"listen 127.0.0.1:{port} ssl"),
            ("/etc/ssl/certs/plimsoll.pem", str(chain)),
            ("/etc/ssl/private/plimsoll.key", str(key)),
            ("127.0.0.1:8087", f"127.0.0.1:{here.port}"),
        ):
            assert block.count(written) == 1
            block = block.replace(written, ours)
        kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        places = "".join(f"{kind}_temp_path {tmp_path}/{kind};\n" for kind in kinds)
        text = f"daemon off; master_process off; pid {tmp_path}/pid; error_log {tmp_path}/errors;\nevents {{}}\n"
        (tmp_path / "nginx.conf").write_text(f"{text}http {{ access_log off;\n{places}{block}}}\n")
        command = [nginx, "-e", tmp_path / "errors", "-p", tmp_path, "-c", tmp_path / "nginx.conf"]
        process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        pool = urllib3.HTTPSConnectionPool(
            "127.0.0.1",
            port,
            ca_certs=str(chain),
            server_hostname=NAME,
            assert_hostname=NAME,
            retries=urllib3.Retry(connect=20, backoff_factor=0.1, redirect=False, status=False),
        )

        def ask(method, path, body=None, **headers):
            headers = {name.replace("_", "-"): value for name, value in headers.items()}
            return pool.request(method, path, body=body, headers={"Host": NAME, **headers})

        try:
            yield here, ask
        finally:
            pool.close()
            process.terminate()
            process.wait(300)


def test_a_proxy_with_tls_lets_through_what_has_a_login_and_its_own_origin(proxied):
    here, ask = proxied
    token, password = create_token(here.folder), create_password(here.folder)
    write = "/api/v2/write?org=o&bucket=b"
    login = "Basic " + base64.b64encode(f"x:{password}".encode()).decode()
    fields = {"Origin": f"https://{NAME}", "Sec_Fetch_Site": "same-origin"}
    assert ask("GET", "/ping").status == 204
    assert ask("GET", "/").status == 401
    assert ask("GET", "/", Authorization=login).status == 200
    assert ask("GET", "/", Authorization=login, **fields).status == 200
    form = b"rule=windows-cpu-*&length=1h&reason=test"
    assert ask("POST", "/silences", form, Authorization=login, **fields).status == 303
    assert ask("POST", "/silences", form, Authorization=login, Origin="https://evil.example").status == 403
    assert ask("POST", "/silences", form, Authorization=login, Sec_Fetch_Site="cross-site").status == 403
    assert ask("GET", "/", Authorization=login, Host="evil.example").status == 403
    assert ask("POST", write, b"cpu,host=a v=1").status == 401
    assert ask("POST", write, b"cpu,host=a v=1", Authorization=f"Token {token}").status == 204
    assert ask("POST", "/api/store/hosts", b"", Authorization=login).status == 401
