"""`plimsoll up`: one process that collects, receives, judges, notifies and serves pages."""
