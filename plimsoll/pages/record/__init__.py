"""The page of the record: who did what."""
