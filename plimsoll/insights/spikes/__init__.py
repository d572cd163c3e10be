"""Spikes at regular intervals, and what rises with them."""
