"""Why a binary log is not read."""


class Refused(Exception):
    """The log is of a kind that is not read, or is damaged. The text goes on after the file's name."""
