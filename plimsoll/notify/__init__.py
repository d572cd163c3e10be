"""Notifies people of alerts: decides when and whom, and words the messages."""
