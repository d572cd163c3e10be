"""One run reviewed: what was crossed, when, for how long, by how much, and where each limit comes from."""
