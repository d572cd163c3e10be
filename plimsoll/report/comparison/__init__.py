"""The results of a comparison: terminal, HTML, JSON and JUnit."""
