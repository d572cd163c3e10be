"""`plimsoll up`: puts the parts together that collect, receive, judge, notify and serve."""
