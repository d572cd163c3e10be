"""Logins at an OpenID provider: who may log in, with which role, and the message for others."""

import base64
import html
import json
import re
import socket
import stat
import subprocess
import sys
from urllib.parse import parse_qs, urlsplit

import pytest
import urllib3
from joserfc.jwk import RSAKey

from plimsoll.model.errors import Unusable
from plimsoll.notify.settings import file as up_settings
from plimsoll.serve import users
from plimsoll.serve.credentials import Use, new_token
from plimsoll.serve.listen import PublicAddress
from plimsoll.serve.oidc.sessions import FILE, Sessions
from plimsoll.serve.people import Role
from plimsoll.up.people import oidc_login
from tests.each import each
from tests.serve.openid import SECRET, openid
from tests.serve.site import EVERYWHERE, LOOPBACK, site

HTML = {"Accept": "text/html", "Sec-Fetch-Mode": "navigate"}
ROLES = 'roles = { viewer = ["staff"], operator = ["ops"], admin = ["root"] }'


class Browser:
    """Keeps cookies, and follows links as far as it is told."""

    def __init__(self, here):
        self.here, self.cookies = here, {}

    def go(self, address, method="GET", body=None, **headers):
        """The answer of Plimsoll."""
        kept = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        sent = {**HTML, "Cookie": kept, **{name.replace("_", "-"): value for name, value in headers.items()}}
        answer = self.here.request(method, address, body, sent, redirect=False)
        for one in answer.headers.getlist("Set-Cookie"):
            name, _, value = one.partition(";")[0].partition("=")
            self.cookies[name] = value
            if "Max-Age=0" in one:
                del self.cookies[name]
        return answer

    def to_provider(self, back="/alerts"):
        """The address at which the provider sends people back, with its answer."""
        begun = self.go(f"/login?back={back}")
        assert begun.status == 303, text(begun)
        with urllib3.PoolManager(retries=False) as pools:
            answer = pools.request("GET", begun.headers["Location"], redirect=False)
        assert answer.status == 302, answer.data
        back_at = urlsplit(answer.headers["Location"])
        return f"{back_at.path}?{back_at.query}"

    def log_in(self, back="/alerts"):
        """The last answer of a login."""
        return self.go(self.to_provider(back), **{"Sec-Fetch-Site": "cross-site"})


def text(answer):
    """What a page says."""
    return " ".join(html.unescape(re.sub("<[^>]*>", " ", answer.data.decode())).split())


@pytest.fixture
def provider():
    with openid() as made:
        yield made


@pytest.fixture
def logged_in_by(provider, duckdb, tmp_path):
    """A function that makes the server, with these settings beside the address of the provider."""
    left = []

    def made(more=ROLES, *, listen=EVERYWHERE, login=False, secret=SECRET, scheme="http", **watching):
        folder = tmp_path / f"data{len(left)}"
        folder.mkdir(mode=0o700, exist_ok=True)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        url = PublicAddress.parse(f"{scheme}://127.0.0.1:{port}")
        written = f'[oidc]\nissuer = "{provider.issuer}"\nclient = "plimsoll"\n{more}\n'
        oidc = oidc_login(settings(written), folder, url, {"PLIMSOLL_OIDC_SECRET": secret})
        assert oidc
        provider.client.redirects.append(f"{url}/login/done")
        running = site(
            duckdb,
            folder,
            listen=type(listen)(listen.host, port),
            login=login,
            url=url,
            sessions=oidc.sessions,
            oidc=oidc,
            **watching,
        )
        left.append(running)
        return Browser(running.__enter__())

    yield made
    for one in left:
        one.__exit__(None, None, None)


@pytest.fixture
def usual(logged_in_by):
    """The server with the usual settings, for browsers."""
    return logged_in_by().here


def settings(written, folder=None):
    return up_settings.parse(written.encode(), folder or up_settings.Path("up.toml"))


def note(browser, **headers):
    form = {"Content_Type": "application/x-www-form-urlencoded", **headers}
    return browser.go("/api/notes", "POST", b"text=deployed", **form).status


def test_people_log_in_at_the_provider_get_their_role_and_log_out(logged_in_by, provider):
    one = logged_in_by()
    opened = one.go("/alerts?state=firing")
    assert (opened.status, opened.headers["Location"]) == (303, "/login?back=%2Falerts%3Fstate%3Dfiring")
    begun = one.go(opened.headers["Location"])
    asked = parse_qs(urlsplit(begun.headers["Location"]).query)
    assert asked["code_challenge_method"] == ["S256"]
    assert {"state", "nonce", "code_challenge"} <= asked.keys()
    done = one.log_in("/alerts?state=firing")
    assert (done.status, done.headers["Location"]) == (303, "/alerts?state=firing")
    assert [*one.cookies] == ["plimsoll-session"]
    page = one.go("/alerts")
    assert page.status == 200
    assert "anna" in text(page)
    assert "Log out" in text(page)
    assert note(one) == 201
    assert one.go("/settings/reload", "POST").status == 403
    (deed,) = one.go("/api/v1/record").json()["items"]
    assert (deed["who"], deed["how"]) == ("anna", "OpenID")
    ended = one.go("/logout", "POST")
    assert "log out there, too" in text(ended)
    assert f"{provider.address}/end?id_token_hint=" in html.unescape(ended.data.decode())
    assert one.cookies == {}
    assert one.go("/alerts").status == 303


def test_a_cookie_is_for_this_server_alone_and_no_script_reads_it(logged_in_by):
    one = logged_in_by(scheme="https")
    made = one.log_in().headers.getlist("Set-Cookie")
    session = next(cookie for cookie in made if cookie.startswith("__Host-plimsoll="))
    assert {"HttpOnly", "Secure", "Path=/", "SameSite=lax", "Max-Age=43200"} <= {*session.split("; ")}
    file = one.here.folder / FILE
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert session.partition("=")[2].partition(";")[0] not in file.read_text()


@each(
    [
        (["staff"], Role.VIEWER),
        (["staff", "ops"], Role.OPERATOR),
        (["root", "staff"], Role.ADMIN),
        ("ops", Role.OPERATOR),
        (["Ops"], None),
        ([], None),
        (None, None),
        ({"ops": True}, None),
    ],
    named=repr,
)
def test_the_role_is_the_highest_of_the_values_of_the_claim(case, usual, provider):
    groups, role = case
    provider.person.claims["groups"] = groups
    one = Browser(usual)
    answer = one.log_in()
    if role is None:
        assert answer.status == 403
        assert "anna has no role here: the claim groups has" in text(answer)
        assert one.go("/alerts").status == 303
    else:
        assert f'class="is-{role}' in one.go("/alerts").data.decode()


def test_who_has_no_role_is_told_what_the_provider_says_of_them(logged_in_by, provider):
    provider.person.claims["groups"] = ["sales", "<b>"]
    answer = logged_in_by().log_in()
    assert "anna has no role here: the claim groups has sales, <b>." in text(answer)
    assert b"<b>" not in answer.data.replace(b'"brand"', b"").partition(b"<main")[2]


def test_a_role_for_everybody_and_claims_within_others(logged_in_by, provider):
    provider.person.claims |= {"realm_access": {"roles": ["root"]}, "https://x.example/name": "Zoe"}
    one = logged_in_by(
        'claim = "realm_access.roles"\nuser = "https://x.example/name"\nrole = "viewer"\nroles = { admin = ["root"] }'
    )
    one.log_in()
    assert 'class="is-admin' in one.go("/alerts").data.decode()
    assert "Zoe" in text(one.go("/alerts"))
    provider.person.claims["realm_access"] = {}
    other = Browser(one.here)
    other.log_in()
    assert 'class="is-viewer' in other.go("/alerts").data.decode()


def test_claims_may_be_at_the_userinfo_endpoint_alone(logged_in_by, provider):
    del provider.person.claims["groups"], provider.person.claims["preferred_username"]
    provider.told = {"preferred_username": "bob", "groups": ["ops"]}
    one = logged_in_by()
    one.log_in()
    assert "bob" in text(one.go("/alerts"))
    provider.told["sub"] = "u-2"
    assert "the provider says no name" in text(Browser(one.here).log_in())


def test_an_address_of_mail_that_was_not_verified_gives_no_role(logged_in_by, provider):
    provider.person.claims |= {"email": "zoe@example.org", "email_verified": False}
    one = logged_in_by('claim = "email"\nroles = { admin = ["zoe@example.org"] }')
    assert one.log_in().status == 403
    provider.person.claims["email_verified"] = True
    assert one.log_in().status == 303


SPOILT = {
    "wrong issuer": (
        lambda claims: {**claims, "iss": "https://other.example"},
        "the claim iss of its ID token is https",
    ),
    "wrong audience": (
        lambda claims: {**claims, "aud": "other"},
        "the claim aud of its ID token is other, not plimsoll",
    ),
    "of another client": (lambda claims: {**claims, "aud": ["plimsoll", "x"], "azp": "x"}, "the claim azp"),
    "no subject": (lambda claims: {name: one for name, one in claims.items() if name != "sub"}, "the claim sub"),
    "expired": (lambda claims: {**claims, "iat": claims["iat"] - 900, "exp": claims["iat"] - 600}, "was valid until"),
    "from the future": (lambda claims: {**claims, "iat": claims["iat"] + 900}, "clock of this machine or of the"),
    "never expires": (lambda claims: {name: one for name, one in claims.items() if name != "exp"}, "the claim exp"),
    "another nonce": (lambda claims: {**claims, "nonce": "n"}, "the claim nonce"),
    "no nonce": (lambda claims: {name: one for name, one in claims.items() if name != "nonce"}, "the claim nonce"),
}


@each(SPOILT, named=str)
def test_an_id_token_that_is_not_of_this_login_lets_nobody_in(case, usual, provider):
    provider.spoil, words = SPOILT[case]
    one = Browser(usual)
    answer = one.log_in()
    assert answer.status == 502
    assert words in text(answer)
    assert "Log in again" in text(answer)
    assert "plimsoll-session" not in one.cookies
    assert one.go("/alerts").status == 303


def test_clocks_may_differ_by_two_minutes(usual, provider):
    provider.spoil = lambda claims: {**claims, "iat": claims["iat"] - 400, "exp": claims["iat"] - 60}
    assert Browser(usual).log_in().status == 303
    provider.spoil = lambda claims: {**claims, "iat": claims["iat"] + 100, "nbf": claims["iat"] + 100}
    assert Browser(usual).log_in().status == 303


def test_a_token_that_others_have_signed_lets_nobody_in(logged_in_by, provider):
    one = logged_in_by()
    provider.published = RSAKey.generate_key(2048, {"kid": "k1"}, auto_kid=False)
    assert "cannot be trusted" in text(one.log_in())
    provider.published = provider.key
    unsigned = [
        base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in ({"alg": "none"}, {})
    ]
    provider.id_token = lambda _: f"{'.'.join(unsigned)}."
    assert "cannot be trusted" in text(one.log_in())
    assert one.go("/alerts").status == 303


def test_a_key_that_the_provider_changes_is_asked_for_again(usual, provider):
    assert Browser(usual).log_in().status == 303
    provider.key = provider.published = RSAKey.generate_key(2048, {"kid": "k1"}, auto_kid=False)
    assert Browser(usual).log_in().status == 303


def test_an_answer_that_was_not_asked_for_in_this_browser_lets_nobody_in(logged_in_by):
    one = logged_in_by()
    stolen = one.to_provider()
    victim = Browser(one.here)
    for answer in (victim.go(stolen), victim.go("/login/done?code=x&state=y"), victim.go("/login/done")):
        assert answer.status == 400
        assert "not begun in this browser" in text(answer)
    victim.go("/login")
    assert victim.go(stolen).status == 400
    assert one.go(stolen).status == 303
    assert "it refuses: invalid_grant" in text(replayed(one, stolen))


def replayed(browser, address):
    """The answer to a code that is sent again, with the login as it was begun."""
    again = Browser(browser.here)
    begun = parse_qs(urlsplit(again.go("/login").headers["Location"]).query)
    return again.go(re.sub("state=[^&]*", f"state={begun['state'][0]}", address))


def test_pkce_binds_the_code_to_the_login(logged_in_by):
    """The code of another login, with the state of one's own."""
    one = logged_in_by()
    assert "it refuses: invalid_grant: Code challenge failed" in text(replayed(one, one.to_provider()))


def test_what_the_provider_refuses_is_said(logged_in_by, provider):
    provider.denies = True
    answer = logged_in_by().log_in()
    assert answer.status == 403
    assert "the provider let nobody in: access_denied" in text(answer)
    provider.denies = False
    answer = logged_in_by(secret="wrong").log_in()
    assert "it refuses: invalid_client" in text(answer)
    assert "oidc.client and the secret in up.toml" in text(answer)


@each(
    [
        ({"issuer": "https://other.example"}, "it calls itself https://other.example, and oidc.issuer"),
        ({"jwks_uri": None}, "does not say its jwks_uri"),
    ],
    named=repr,
)
def test_a_provider_that_is_set_up_wrongly_is_said_before_anybody_goes_there(case, usual, provider):
    provider.metadata, words = case
    answer = Browser(usual).go("/login")
    assert answer.status == 502
    assert words in text(answer)


def test_while_the_provider_is_away_a_user_logs_in_with_a_password(logged_in_by, provider):
    one = logged_in_by('role = "viewer"')
    provider.metadata = {"token_endpoint": "http://127.0.0.1:1/"}
    assert "it does not answer: " in text(one.log_in())
    users.add(one.here.folder, "admin-1", Role.ADMIN, "correct horse battery")
    asked = one.go("/login?with=password&back=/alerts")
    assert (asked.status, asked.headers["WWW-Authenticate"][:5]) == (401, "Basic")
    known = {"Authorization": "Basic " + base64.b64encode(b"admin-1:correct horse battery").decode()}
    assert one.go("/login?with=password&back=/alerts", **known).headers["Location"] == "/alerts"
    assert "admin-1" in text(one.go("/alerts", **known))


def test_a_public_client_and_one_whose_secret_is_in_the_body(logged_in_by, provider):
    provider.client.methods = ("none",)
    assert logged_in_by(secret="").log_in().status == 303
    provider.client.methods = ("client_secret_post",)
    assert logged_in_by().log_in().status == 303


def test_on_the_loopback_address_everybody_reads_and_changes_need_a_login(logged_in_by):
    one = logged_in_by(listen=LOOPBACK)
    page = one.go("/alerts")
    assert page.status == 200
    assert "Log in" in text(page)
    assert note(one) == 401
    assert "nothing was changed" in one.go("/api/notes", "POST", b"text=x").data.decode()
    one.log_in()
    assert note(one) == 201


def test_a_login_is_no_token_and_other_sites_cannot_use_it(logged_in_by):
    one = logged_in_by()
    one.log_in()
    body = json.dumps({"text": "x"}).encode()
    assert one.go("/api/v1/notes", "POST", body, Content_Type="application/json").status == 401
    assert note(one, Origin="https://evil.example") == 403
    assert note(one, Sec_Fetch_Site="cross-site", Sec_Fetch_Mode="navigate") == 403
    assert one.go("/logout", "POST", Origin="https://evil.example").status == 403
    token = new_token(one.here.folder, "ci", Use.READ)
    fresh = Browser(one.here)
    assert fresh.go("/api/v1/alerts", Authorization=f"Bearer {token}").status == 200
    asked = one.here.request("GET", "/api/v1/alerts")
    assert (asked.status, asked.headers["WWW-Authenticate"]) == (401, "Bearer")


def test_back_leads_to_this_server_alone(usual):
    for back in ("https://evil.example/x", "//evil.example/x", "/\\evil.example/x"):
        assert Browser(usual).log_in(back).headers["Location"] in ("/", "/x")


def test_another_name_of_the_server_leads_to_the_public_one_once(logged_in_by):
    one = logged_in_by()
    moved = one.go("/login?back=/alerts", Host=f"localhost:{one.here.port}")
    assert moved.headers["Location"] == f"http://127.0.0.1:{one.here.port}/login?back=%2Falerts&moved=1"
    again = one.go("/login?back=%2Falerts&moved=1", Host=f"localhost:{one.here.port}")
    assert "/authorize?" in again.headers["Location"]


def test_logins_survive_a_restart_unless_what_gives_roles_was_changed(tmp_path):
    tmp_path.chmod(0o700)
    now = [1000.0]

    def sessions(made_with="a"):
        return Sessions(tmp_path, made_with, 60, secure=True, clock=lambda: now[0])

    first = sessions()
    cookies = {first.cookie: first.begin("anna", Role.OPERATOR, "")}
    assert sessions().person(cookies) == first.person(cookies)
    assert sessions().person(cookies) is not None
    assert sessions("b").person(cookies) is None
    now[0] += 60
    assert sessions().person(cookies) is None
    (tmp_path / FILE).write_text("{")
    with pytest.raises(Unusable, match="people log in again"):
        sessions()


@each(
    [
        ('issuer = "http://login.example.org"\nclient = "x"\nrole = "viewer"', "oidc.issuer: is no https:// address"),
        ('issuer = "https://login.example.org"\nclient = "x"', "gives nobody a role"),
        ('issuer = "https://login.example.org"\nclient = "x"\nroles = { boss = ["x"] }', "oidc.roles.boss"),
        ('issuer = "https://login.example.org"\nclient = "x"\nrole = "viewer"\nsecret = "s"', "unknown setting"),
        (
            'issuer = "https://login.example.org"\nclient = "x"\nrole = "viewer"\nsession = "1s"',
            "is not from 5m to 30d",
        ),
        ('issuer = "https://login.example.org"\nclient = "x"\nrole = "viewer"\nscopes = ["email"]', 'has no "openid"'),
    ],
    named=lambda case: case[1],
)
def test_settings_that_cannot_be_are_refused(case):
    written, words = case
    with pytest.raises(Unusable) as refused:
        settings(f"[oidc]\n{written}\n")
    assert words in str(refused.value)


def test_the_secret_is_in_a_file_that_others_cannot_read(tmp_path):
    tmp_path.chmod(0o700)
    file = tmp_path / "secret"
    file.write_text("s\n")
    written = f'[oidc]\nissuer = "https://login.example.org"\nclient = "x"\nrole = "viewer"\nsecret_file = "{file}"\n'
    url = PublicAddress.parse("https://plimsoll.example.org")
    file.chmod(0o644)
    with pytest.raises(Unusable, match="others can read the secret"):
        oidc_login(settings(written), tmp_path, url)
    file.chmod(0o600)
    assert oidc_login(settings(written), tmp_path, url)
    file.unlink()
    with pytest.raises(Unusable, match="cannot be read"):
        oidc_login(settings(written), tmp_path, url)
    with pytest.raises(Unusable, match="a public address"):
        oidc_login(settings(written), tmp_path, None)


def test_authlib_is_imported_only_where_people_log_in_by_it():
    code = (
        "import sys; import plimsoll.cli.commands.up, plimsoll.pages.application, plimsoll.up.people as people; "
        "from pathlib import Path; from plimsoll.notify.settings.settings import UpSettings; "
        "assert people.oidc_login(UpSettings(), Path('.'), None) is None; "
        "assert not {'authlib', 'joserfc', 'cryptography'} & sys.modules.keys()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
