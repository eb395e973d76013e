"""One pair of 300 words and one of 600, and what is learned from the first, for all tests of this room."""

from __future__ import annotations

import pytest

from invarot.translation import learn

from .pairs import rotated_pair


@pytest.fixture(scope="session")
def pair():
    return rotated_pair()


@pytest.fixture(scope="session")
def model(pair):
    return learn(pair[0], pair[1], how="fast")


@pytest.fixture(scope="session")
def larger_pair():
    return rotated_pair(600)
