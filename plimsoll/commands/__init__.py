"""A module for each command. They are imported when they are called, so that none waits for what it does not use."""
