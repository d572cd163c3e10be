"""Code that several formats use: cells, text, clocks and zones."""
