"""The output forms of `plimsoll rules counters`, one module each."""
