"""The collector of this computer's counters, with the names that Telegraf gives them."""
