"""Logins at an OpenID provider. See docs/security.md."""
