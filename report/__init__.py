"""A review as people and programs read it: HTML, terminal, JSON, JUnit."""
