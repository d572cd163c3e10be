"""Compressed bodies: their cost is bounded, whatever their content."""

import contextlib
import gzip
import zlib

import cramjam
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.serve import request_body
from plimsoll.serve.request_body import DamagedBody, TooLarge, gunzip, unpack_snappy

LONGEST = 100 << 20


def test_all_parts_are_unpacked_wherever_they_end():
    parts = [b"a" * 100_000, b"", b"b", bytes(range(256)) * 1000]
    packed = b"".join(map(gzip.compress, parts))
    assert gunzip(packed, LONGEST) == b"".join(parts)
    assert gunzip(packed, len(b"".join(parts))) == b"".join(parts)
    for odd in (packed[:-1], packed + b"x", packed[: len(packed) // 2], b""):
        with pytest.raises(DamagedBody):
            gunzip(odd, LONGEST)


def test_many_parts_are_refused_after_a_bounded_number(monkeypatch):
    """25 MB of empty parts took minutes, as the rest of the body was copied for each part."""
    created, fed = 0, 0

    class Counting:
        def __init__(self, kind):
            nonlocal created
            created += 1
            self._one = zlib.decompressobj(kind)

        def decompress(self, data, most):
            nonlocal fed
            fed += len(data)
            return self._one.decompress(data, most)

        def __getattr__(self, name):
            return getattr(self._one, name)

    class Zlib:
        error = zlib.error
        decompressobj = Counting

    monkeypatch.setattr(request_body, "zlib", Zlib)
    body = gzip.compress(b"") * (1 << 17)  # 2.6 MB
    with pytest.raises(TooLarge):
        gunzip(body, LONGEST)
    assert created <= 1001
    assert fed <= 1001 * (64 << 10)


def test_content_far_larger_than_its_packed_size_is_refused_early():
    bomb = gzip.compress(bytes(50 << 20))
    with pytest.raises(TooLarge):
        gunzip(bomb, LONGEST)
    assert gunzip(gzip.compress(bytes(1 << 20)), LONGEST) == bytes(1 << 20)
    lines = b"".join(
        b"cpu,host=web%03d,cpu=cpu%d usage_idle=%d.5 1790000000000000000\n" % (h, c, h + c)
        for h in range(500)
        for c in range(16)
    )
    assert gunzip(gzip.compress(lines), LONGEST) == lines


def test_snappy_that_says_it_is_too_long_is_not_unpacked():
    packed = bytes(cramjam.snappy.compress_raw(b"abcd" * 10))
    assert unpack_snappy(packed, 40) == b"abcd" * 10
    with pytest.raises(TooLarge):
        unpack_snappy(packed, 39)


@given(st.binary(max_size=100))
def test_no_bytes_unpack_to_more_than_allowed(content):
    with contextlib.suppress(DamagedBody, TooLarge):
        assert len(unpack_snappy(content, 1000)) <= 1000
