"""Simulated systems, to try Plimsoll without real hosts."""
