"""How people log in at an OpenID provider."""

from collections.abc import Sequence
from dataclasses import dataclass

from plimsoll.serve.people import RolesOf


@dataclass(frozen=True)
class Settings:
    """The provider, and what is taken from it.

    `issuer` is its address and name, `client` and `secret` are those it gave to Plimsoll; without a secret it is a
    public client. `user` is the claim with the name of who logs in, `claim` the one that gives the role by `roles`.
    `ca` is a file of certificates that the provider's is one of. `redirect`: where it sends people back to.
    """

    issuer: str
    client: str
    secret: str
    redirect: str
    user: str
    claim: str
    roles: RolesOf
    scopes: Sequence[str]
    ca: str | None = None
