"""up.toml: what `plimsoll up` is told."""
