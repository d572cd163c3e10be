"""up.toml: the settings of `plimsoll up`."""
