"""What several pages use: the frame, forms, links, and lists of alerts."""
