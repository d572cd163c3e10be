"""A simulated system: logs to try Plimsoll on without a Windows machine."""
