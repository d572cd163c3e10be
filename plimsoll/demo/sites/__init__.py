"""The systems of the examples, one YAML file each; `plimsoll.demo.site` explains the fields."""
