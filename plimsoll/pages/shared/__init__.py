"""Parts of several pages: the frame, forms, links, and lists of alerts."""
