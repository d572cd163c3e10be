"""Runs this process as a Windows service: answers the service manager through advapi32.dll.

https://learn.microsoft.com/windows/win32/services/service-programs
"""

import ctypes
from collections.abc import Callable
from ctypes import POINTER, Structure, byref, c_int, c_uint32, c_void_p, c_wchar_p
from threading import Lock
from typing import Any

NAME = "Plimsoll"
_OWN_PROCESS = 0x10
_STOPPED, _START_PENDING, _STOP_PENDING, _RUNNING = 1, 2, 3, 4
_STOP, _INTERROGATE, _SHUTDOWN, _PARAMETERS_CHANGED = 1, 4, 5, 6
_ACCEPTED = 0x1 | 0x4 | 0x8  # to stop, to end with Windows, and to read the settings anew
_NOT_IMPLEMENTED = 120
_OWN_ERROR = 1066  # ERROR_SERVICE_SPECIFIC_ERROR: the status of this program is beside it
_NOT_A_SERVICE = 1063
_PATIENCE_MS = 60_000  # how long it may take to begin and to end


class _Status(Structure):
    """The SERVICE_STATUS structure of the Windows API."""

    _fields_ = tuple(
        (name, c_uint32) for name in ("type", "state", "accepted", "error", "own_error", "checkpoint", "patience_ms")
    )


class Service:
    """This process as a Windows service.

    `run` does the work and returns an exit status; `stop` makes `run` return; `reload` reads the settings again.
    """

    def __init__(self, name: str, run: Callable[[], int], stop: Callable[[], None], reload: Callable[[], None]) -> None:
        self._name = name
        self._run = run
        self._stop = stop
        self._reload = reload
        self._lock = Lock()
        self._handle = 0
        self._state = _START_PENDING
        self._library: Any = getattr(ctypes, "WinDLL", ctypes.CDLL)("advapi32.dll", use_last_error=True)
        self._set_status = self._library.SetServiceStatus
        self._set_status.argtypes, self._set_status.restype = (c_void_p, POINTER(_Status)), c_int

    def serve(self) -> None:
        """Run until the service is stopped. Raise OSError if the service manager did not start this process."""
        dispatch = self._library.StartServiceCtrlDispatcherW
        dispatch.argtypes, dispatch.restype = (POINTER(_ServiceEntry),), c_int
        table = (_ServiceEntry * 2)(_ServiceEntry(self._name, _MAIN(self._main)), _ServiceEntry(None, _MAIN()))
        if not dispatch(table):
            error: int = getattr(ctypes, "get_last_error", lambda: 0)()
            why = "the service manager of Windows did not start this process" if error == _NOT_A_SERVICE else "error"
            raise OSError(f"{why} ({error})")

    def _main(self, _count: int, _arguments: Any) -> None:
        register, handler = self._library.RegisterServiceCtrlHandlerExW, _HANDLER(self._control)
        register.argtypes, register.restype = (c_wchar_p, _HANDLER, c_void_p), c_void_p
        self._handle = register(self._name, handler, None) or 0
        self._say(_RUNNING)
        status = 70
        try:
            status = self._run()
        finally:
            self._say(_STOPPED, status)

    def _control(self, control: int, _type: int, _data: Any, _context: Any) -> int:
        if control in (_STOP, _SHUTDOWN):
            self._say(_STOP_PENDING)
            self._stop()
        elif control == _PARAMETERS_CHANGED:
            self._reload()
        elif control == _INTERROGATE:
            self._say(self._state)
        else:
            return _NOT_IMPLEMENTED
        return 0

    def _say(self, state: int, status: int = 0) -> None:
        with self._lock:
            if self._state == _STOPPED:
                return
            self._state = state
            status_record = _Status(_OWN_PROCESS, state, _ACCEPTED if state == _RUNNING else 0)
            if state in (_START_PENDING, _STOP_PENDING):
                status_record.patience_ms = _PATIENCE_MS
            if status:
                status_record.error, status_record.own_error = _OWN_ERROR, status
            self._set_status(self._handle, byref(status_record))


_FUNCTION: Any = getattr(ctypes, "WINFUNCTYPE", ctypes.CFUNCTYPE)
_MAIN = _FUNCTION(None, c_uint32, c_void_p)
_HANDLER = _FUNCTION(c_uint32, c_uint32, c_uint32, c_void_p, c_void_p)


class _ServiceEntry(Structure):
    """The SERVICE_TABLE_ENTRYW structure of the Windows API."""

    _fields_ = (("name", c_wchar_p), ("main", _MAIN))
