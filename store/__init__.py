"""Where series live: one Store protocol, and the stores behind it."""
