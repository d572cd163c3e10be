"""Where people log in and out."""
