"""Trends: signals that climb or fall throughout a run."""
