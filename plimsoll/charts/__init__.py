"""Charts of a run for HTML pages, with their samples reduced to the size that a page may have."""
