"""Spikes at regular intervals, and the signals that rise with them."""
