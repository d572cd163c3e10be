"""`plimsoll up` in the background: a unit of systemd, a service of Windows, or an agent of launchd."""
