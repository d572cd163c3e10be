"""The translator of exporters' metrics."""

import pytest

from plimsoll.receive.exporters.translate import Translator
from plimsoll.rules.load import load


@pytest.fixture
def translator():
    """Return a translator for the shipped signals."""
    return Translator(load().signals)
