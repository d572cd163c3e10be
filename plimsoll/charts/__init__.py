"""Charts of a run for HTML pages: what each shows, and its samples within the size that a page may have."""
