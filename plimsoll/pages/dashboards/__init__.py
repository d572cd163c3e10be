"""The dashboards, and the Explore page, which draws any series of any host."""
