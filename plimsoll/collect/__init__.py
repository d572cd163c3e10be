"""The collector of this computer's counters, which names them as Telegraf does."""
