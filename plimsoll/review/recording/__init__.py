"""What a recording itself gives reason to doubt: values that cannot be, counters that stand still, hosts that end."""
