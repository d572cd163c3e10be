"""Averages that mislead because most values of the signal are far from them."""
