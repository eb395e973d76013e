"""The examples in the docstrings of the core run and print what they say."""

import doctest
import importlib

import pytest


@pytest.mark.parametrize(
    "name", ["alignment.solve", "alignment.settings", "geometry.schatten", "transport.choice", "transport.schedule"]
)
def test_examples(name):
    module = importlib.import_module(f"invarot.{name}")
    failed, tried = doctest.testmod(module)
    assert tried > 0
    assert failed == 0
