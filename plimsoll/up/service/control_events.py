"""Requests from outside to a running `plimsoll up`: signals, and commands of the service manager of Windows."""

from threading import Event

to_stop = Event()
to_reload = Event()
