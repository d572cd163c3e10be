"""What signals and packs may contain, and how their files are checked."""
