"""Averages that mislead, as most values of the signal are far from them."""
