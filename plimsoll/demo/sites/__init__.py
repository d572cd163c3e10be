"""The systems of the examples as YAML files; `plimsoll.demo.site` says what their fields mean."""
