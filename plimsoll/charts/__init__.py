"""Charts of a run for HTML pages, with samples reduced so that the page stays small."""
