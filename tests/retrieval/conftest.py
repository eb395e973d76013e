"""Two small clouds for the tests of retrieval."""

from __future__ import annotations

import numpy as np
import pytest


@pytest.fixture
def clouds():
    rng = np.random.default_rng(1)
    return rng.standard_normal((120, 5)), rng.standard_normal((90, 5)) + 0.5
