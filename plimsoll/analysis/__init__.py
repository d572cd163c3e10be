"""Statistics of samples alone: arrays in, figures out; signals, hosts and limits are not known here."""
