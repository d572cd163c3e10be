"""The charts of the pages: their data, and the script that draws them."""
