"""The web pages of `plimsoll up`."""
