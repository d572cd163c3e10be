"""What a command that soon ends asks of the memory's allocator."""

import ctypes
import sys

# Of glibc's mallopt(3).
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
_MOST_KEPT = 1 << 28
_LARGE = 1 << 25  # the most that glibc takes


def keep_what_is_freed() -> None:
    """Use memory again for the next array instead of giving it back: asking for it anew took a tenth of a review."""
    if sys.platform != "linux":
        return
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # musl has none
    if mallopt:
        mallopt(_TRIM_THRESHOLD, _MOST_KEPT)
        mallopt(_MMAP_THRESHOLD, _LARGE)
