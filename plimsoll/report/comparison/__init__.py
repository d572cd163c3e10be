"""The results of a comparison as terminal text, HTML, JSON and JUnit XML."""
