"""Settings of a run and its hosts in plimsoll.toml, and facts of hosts found in logs."""
