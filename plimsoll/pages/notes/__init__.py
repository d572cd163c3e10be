"""Notes on the time axis of charts."""
