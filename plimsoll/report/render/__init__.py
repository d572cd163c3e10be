"""The renderers of a document: terminal, HTML, Markdown and JUnit."""
