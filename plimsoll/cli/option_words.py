"""What the command line calls the parameters that messages name: its options."""

from plimsoll.model.parameters import worded


def with_options(text: str) -> str:
    """A text with `--zone` where the time zone is meant."""
    return worded(text, lambda parameter: f"--{parameter.plain}")
