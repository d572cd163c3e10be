"""Levels of a series: segments, steps, ramps, and whether a level is steady."""
