"""`plimsoll up`: the collector, the write endpoint, the alert loop and notifications."""
