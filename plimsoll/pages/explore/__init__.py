"""The page Explore: any series of any host, several on one chart."""
