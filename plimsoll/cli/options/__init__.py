"""The arguments, options and help of each command. Nothing slow, such as polars, is imported to show help."""
