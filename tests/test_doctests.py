"""The examples in the docstrings run and print what they say."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest

import invarot

SRC = Path(invarot.__file__).parent
NEEDS_TORCH = ("invarot.transport.gpu.", "invarot.torch")


def modules() -> list[object]:
    found: list[object] = []
    for path in sorted(SRC.rglob("*.py")):
        if ">>>" in path.read_text(encoding="utf-8"):
            name = ".".join(("invarot", *path.relative_to(SRC).with_suffix("").parts))
            found.append(pytest.param(name, marks=pytest.mark.torch) if name.startswith(NEEDS_TORCH) else name)
    return found


@pytest.mark.parametrize("name", modules())
def test_examples(name):
    if name.startswith(NEEDS_TORCH):
        pytest.importorskip("torch")
    assert doctest.testmod(importlib.import_module(name)).failed == 0
