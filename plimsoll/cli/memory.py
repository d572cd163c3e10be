"""How a command that soon ends uses memory."""

import ctypes
import gc
import sys

# Of glibc's mallopt(3).
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
_MOST_KEPT = 1 << 28
_LARGE = 1 << 25  # the most that glibc takes
_MANY = 1_000_000  # objects; what a review makes stays until the end, or goes without a collector


def soon_ends() -> None:
    """Keep freed memory for the next array instead of returning it to the system, and hardly collect garbage.

    Allocating memory again took a tenth of a review. A collection finds nothing in imported modules.
    """
    gc.set_threshold(_MANY, 50, 50)
    if sys.platform != "linux":
        return
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # musl has none
    if mallopt:
        mallopt(_TRIM_THRESHOLD, _MOST_KEPT)
        mallopt(_MMAP_THRESHOLD, _LARGE)
