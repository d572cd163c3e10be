"""What a running `plimsoll up` is asked for from outside, by a signal or by the service manager of Windows."""

from threading import Event

to_stop = Event()
to_reload = Event()
