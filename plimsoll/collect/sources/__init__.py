"""What the collector reads on this computer, a module for each group of measurements."""
