"""Files with which systemd, Windows or launchd runs `plimsoll up` in the background."""
