"""Where the level of a series changes: segments, steps, ramps, and whether it is steady."""
