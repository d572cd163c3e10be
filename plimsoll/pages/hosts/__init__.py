"""The page of one host."""
