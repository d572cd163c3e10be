"""Plimsoll for Python: `read`, `review` and `compare`, which the commands of the same names call, too."""
