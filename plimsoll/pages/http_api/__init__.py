"""The HTTP API under /api/v1: what the pages use, for other programs; docs/http-api.md."""
