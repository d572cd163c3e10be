"""Events that make `plimsoll up` stop or reload, set by signal handlers or by the service manager of Windows."""

from threading import Event

to_stop = Event()
to_reload = Event()
