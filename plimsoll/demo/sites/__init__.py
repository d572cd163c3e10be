"""Sites as data: each YAML file is a system of the examples, and `read` says what its fields mean."""
