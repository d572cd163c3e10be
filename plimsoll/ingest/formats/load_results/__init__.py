"""What load drivers write of the requests they send: JMeter, k6, Gatling and Locust."""
