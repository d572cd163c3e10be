"""Takes line protocol from agents, and writes it to the store."""
