"""What climbs or falls throughout a run."""
