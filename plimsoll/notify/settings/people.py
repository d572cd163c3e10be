"""The sections by which people log in elsewhere, at a proxy or an OpenID provider, and get their roles."""

import re
from typing import Annotated, Literal, Self

from pydantic import Field, SecretStr, field_validator, model_validator

from plimsoll.model.times import SECOND
from plimsoll.notify.settings.fields import Duration, Name, Network, Strict

RoleName = Literal["viewer", "operator", "admin"]
_Header = Annotated[str, Field(pattern=r"^[A-Za-z0-9-]{1,100}$")]
_HOUR = 3600 * SECOND
_LOOPBACK = r"(localhost|127\.[0-9.]+|\[::1\])"


class ProxySettings(Strict):
    """A reverse proxy that people log in at, and that says in the header `user` who asks.

    It is at one of the `addresses`, and sends the `secret` as X-Plimsoll-Proxy. `roles` are by the values of the header
    `groups`, between which is `separator`; `role` is that of people who are no users and have none of these.
    """

    addresses: tuple[Network, ...] = Field(min_length=1)
    user: _Header
    secret: SecretStr = SecretStr("")
    groups: _Header | None = None
    separator: Name = ","
    roles: dict[RoleName, tuple[Name, ...]] = Field(default={})
    role: RoleName | None = None

    @field_validator("secret")
    @classmethod
    def _is_long(cls, secret: SecretStr) -> SecretStr:
        found = secret.get_secret_value()
        if found and not re.fullmatch(r"[\x21-\x7e]{20,200}", found):
            raise ValueError("has 20 to 200 characters, without spaces")
        return secret

    @model_validator(mode="after")
    def _needs_secret(self) -> Self:
        if any(one.is_loopback for one in self.addresses) and not self.secret.get_secret_value():
            raise ValueError("needs a secret: every program on this machine is at a loopback address")
        return self

    @model_validator(mode="after")
    def _goes_together(self) -> Self:
        if bool(self.roles) != bool(self.groups):
            raise ValueError("groups names the header whose values roles has: both are needed, or none")
        return self


class OidcSettings(Strict):
    """An OpenID provider at which people log in.

    `issuer`, `client` and the content of `secret_file` are as the provider has them. `user` is the claim with their
    name, `claim` the one whose values `roles` has; `role` is that of people who have none of these. A login is valid
    for `session` (ns).
    """

    issuer: Name
    client: Name
    secret_file: Name | None = None
    user: Name = "preferred_username"
    claim: Name = "groups"
    roles: dict[RoleName, tuple[Name, ...]] = Field(default={})
    role: RoleName | None = None
    scopes: tuple[Name, ...] = ("openid", "profile", "email")
    session: Duration = 12 * _HOUR
    ca: Name | None = None

    @field_validator("issuer")
    @classmethod
    def _is_https(cls, issuer: str) -> str:
        if not re.fullmatch(rf"https://[^\s/?#@]+[^\s?#]*|http://{_LOOPBACK}(:[0-9]+)?(/[^\s?#]*)?", issuer):
            raise ValueError("is no https:// address, as https://login.example.org/realms/main")
        return issuer.removesuffix("/.well-known/openid-configuration")

    @field_validator("scopes")
    @classmethod
    def _has_openid(cls, scopes: tuple[str, ...]) -> tuple[str, ...]:
        if "openid" not in scopes:
            raise ValueError('has no "openid", without which the provider does not say who logs in')
        return scopes

    @field_validator("session")
    @classmethod
    def _is_of_use(cls, session: int) -> int:
        if not _HOUR // 12 <= session <= 30 * 24 * _HOUR:
            raise ValueError("is not from 5m to 30d")
        return session

    @model_validator(mode="after")
    def _gives_roles(self) -> Self:
        if not self.roles and not self.role:
            raise ValueError("gives nobody a role: roles = { operator = [...] } does, or role = ... for everybody")
        return self
