"""What plimsoll.toml says of a run and its hosts, and what logs show of them."""
