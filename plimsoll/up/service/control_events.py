"""Requests to a running `plimsoll up` from outside: by a signal, or by the service manager of Windows."""

from threading import Event

to_stop = Event()
to_reload = Event()
