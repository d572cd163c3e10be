"""The section by which people log in at a proxy, and get their roles."""

import re
from typing import Annotated, Literal, Self

from pydantic import Field, SecretStr, field_validator, model_validator

from plimsoll.notify.settings.fields import Name, Network, Strict

RoleName = Literal["viewer", "operator", "admin"]
_Header = Annotated[str, Field(pattern=r"^[A-Za-z0-9-]{1,100}$")]


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
