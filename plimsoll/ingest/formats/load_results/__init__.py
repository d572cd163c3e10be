"""Readers of the results of load drivers: JMeter, k6, Gatling, Locust, vegeta, ghz and artillery."""
