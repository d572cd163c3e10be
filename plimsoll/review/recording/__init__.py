"""Doubts from the recording itself: impossible values, counters that stand still, hosts that end early."""
