"""What each command takes, and its help. The work is imported when it is called: help must not wait for polars."""
