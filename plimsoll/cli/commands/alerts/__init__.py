"""`plimsoll alerts`."""
