"""What formats share: cells, text, clocks and zones."""
