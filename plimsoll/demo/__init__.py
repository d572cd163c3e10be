"""Simulated systems, for trying Plimsoll without a Windows machine."""
