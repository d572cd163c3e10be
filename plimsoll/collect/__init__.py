"""Collects this computer's counters, with the names that Telegraf gives them."""
