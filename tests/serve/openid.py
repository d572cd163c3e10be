"""An OpenID provider for tests, with authlib's server side: it checks the client, the address to go back to and PKCE.

Everybody is logged in at once, as `person`. `spoil` changes the claims of the ID token before they are signed, and
`keys` holds the signing key. Only the userinfo endpoint returns `claims`.
"""

import json
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from authlib.common.security import generate_token
from authlib.oauth2 import rfc6749
from authlib.oauth2.rfc6749 import OAuth2Error
from authlib.oauth2.rfc6749.requests import BasicOAuth2Payload
from authlib.oauth2.rfc6750 import BearerTokenGenerator
from authlib.oauth2.rfc7636 import CodeChallenge
from joserfc import jwt
from joserfc.jwk import KeySet, RSAKey

# They have no types that hold.
Grant: Any = rfc6749.AuthorizationCodeGrant
Server: Any = rfc6749.AuthorizationServer
Request: Any = rfc6749.OAuth2Request
CLIENT, SECRET = "plimsoll", "the client's secret"
KEY = RSAKey.generate_key(2048, {"kid": "k1", "use": "sig", "alg": "RS256"}, auto_kid=False)


@dataclass
class Person:
    claims: dict[str, Any] = field(
        default_factory=lambda: {"sub": "u-1", "preferred_username": "anna", "groups": ["ops"]}
    )


@dataclass
class Client:
    """Plimsoll, as the provider knows it."""

    secret: str = SECRET
    methods: tuple[str, ...] = ("client_secret_basic",)
    redirects: list[str] = field(default_factory=list[str])

    def get_client_id(self):
        return CLIENT

    def get_allowed_scope(self, scope):
        return scope

    def check_redirect_uri(self, redirect_uri):
        return redirect_uri in self.redirects

    def check_client_secret(self, client_secret):
        return client_secret == self.secret

    def check_endpoint_auth_method(self, method, endpoint):
        return method in self.methods

    def check_response_type(self, response_type):
        return response_type == "code"

    def check_grant_type(self, grant_type):
        return grant_type == "authorization_code"


@dataclass
class Code:
    code: str
    redirect: str
    scope: str
    nonce: str
    code_challenge: str
    code_challenge_method: str

    def get_redirect_uri(self):
        return self.redirect

    def get_scope(self):
        return self.scope


class OpenId(Server):
    """The provider. `asked` are the paths that were asked for."""

    def __init__(self):
        super().__init__()
        provider = self
        self.client, self.person = Client(), Person()
        self.address = self.issuer = ""
        self.codes, self.asked = {}, []
        self.key = self.published = KEY
        self.spoil = lambda claims: claims
        self.told = {}
        self.metadata = {}
        self.denies = False

        class Codes(Grant):
            TOKEN_ENDPOINT_AUTH_METHODS = ("client_secret_basic", "client_secret_post", "none")

            def save_authorization_code(self, code, request):
                data = request.payload.data
                kept = (data["redirect_uri"], data["scope"], data["nonce"], data["code_challenge"])
                provider.codes[code] = Code(code, *kept, data["code_challenge_method"])

            def query_authorization_code(self, code, client):
                return provider.codes.get(code)

            def delete_authorization_code(self, authorization_code):
                del provider.codes[authorization_code.code]

            def authenticate_user(self, authorization_code):
                return provider.person

            def create_token_response(self):
                code = self.request.authorization_code
                status, token, headers = super().create_token_response()
                return status, {**token, "id_token": provider.id_token(code.nonce)}, headers

        self.register_grant(Codes, [CodeChallenge(required=True)])
        self.register_token_generator("default", BearerTokenGenerator(lambda **_: generate_token(42)))

    def id_token(self, nonce):
        now = int(time.time())
        claims = {"iss": self.issuer, "aud": CLIENT, "iat": now, "exp": now + 300, "nonce": nonce, **self.person.claims}
        return jwt.encode({"alg": "RS256", "kid": "k1"}, self.spoil(claims), self.key)

    def query_client(self, client_id):
        return self.client if client_id == CLIENT else None

    def save_token(self, token, request):
        pass

    def send_signal(self, name, *args, **kwargs):
        pass

    def create_oauth2_request(self, request):
        made = Asked(request.method, request.uri, headers=request.headers)
        made.payload = BasicOAuth2Payload(request.data)
        return made

    def handle_response(self, status, body, headers):
        return status, body, dict(headers)

    def answer(self, request):
        path = urlsplit(request.uri).path
        self.asked.append(path)
        answers = {
            "/.well-known/openid-configuration": lambda: (200, self.about(), {}),
            "/jwks": lambda: (200, KeySet([self.published]).as_dict(private=False), {}),
            "/userinfo": lambda: (200, {"sub": self.person.claims["sub"], **self.told}, {}),
            "/token": lambda: self.create_token_response(request),
            "/authorize": lambda: self.authorized(request),
        }
        return answers.get(path, lambda: (404, {}, {}))()

    def authorized(self, request):
        grant = self.get_consent_grant(request)
        redirect = grant.validate_authorization_request()
        try:
            return grant.create_authorization_response(redirect, None if self.denies else self.person)
        except OAuth2Error as error:
            error.state = request.data["state"]
            return error()

    def about(self):
        base = self.address
        ends = {"authorization_endpoint": "authorize", "token_endpoint": "token", "jwks_uri": "jwks"}
        ends |= {"userinfo_endpoint": "userinfo", "end_session_endpoint": "end"}
        named = {name: f"{base}/{path}" for name, path in ends.items()}
        methods = [*self.client.methods]
        return {"issuer": self.issuer, **named, "token_endpoint_auth_methods_supported": methods, **self.metadata}


class Asked(Request):
    @property
    def form(self):
        return self.payload.data

    args = form


@dataclass
class Sent:
    method: str
    uri: str
    headers: dict[str, str]
    data: dict[str, str]


@contextmanager
def openid():
    """A running provider."""
    made = OpenId()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
            # authlib's server side wants https.
            uri = f"https://{self.headers['Host']}{self.path}"
            sent = Sent(self.command, uri, dict(self.headers), dict(parse_qsl(urlsplit(uri).query) + parse_qsl(body)))
            status, content, headers = made.answer(sent)
            text = (content if isinstance(content, str) else json.dumps(content)).encode()
            self.send_response(status)
            for name, value in {**dict(headers), "Content-Length": str(len(text))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(text)

        def do_POST(self):
            self.do_GET()

        def log_message(self, format, *args):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    made.address = made.issuer = f"http://127.0.0.1:{server.server_port}"
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield made
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
