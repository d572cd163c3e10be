"""The pages of dashboards, and Explore: any series of any host, several on one chart."""
