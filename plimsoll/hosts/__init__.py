"""Settings of a run and its hosts from plimsoll.toml, and facts of hosts found in logs."""
