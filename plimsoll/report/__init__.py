"""Writes a review as HTML, terminal text, JSON or JUnit XML, and a rule as a page."""
