"""`plimsoll service`."""
