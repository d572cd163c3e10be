"""Output formats of `plimsoll rules counters`, one module each."""
