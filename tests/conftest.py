"""Fixtures for every room: the array libraries, and the measured data where it is at hand."""

from __future__ import annotations

import importlib.util
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest


@dataclass(frozen=True)
class Library:
    """An array library under test: ``lib.array(values)`` makes an array of it, ``lib.numpy(array)`` reads it back."""

    name: str

    def array(self, values: Any, dtype: str | None = None) -> Any:
        """An array of ``values``, float32 and float64 kept, ``dtype`` by its name ("float32", "int64", …)."""
        host = np.array(values) if dtype is None else np.array(values, dtype=dtype)
        if self.name == "numpy":
            return host
        import torch

        return torch.as_tensor(host)

    def numpy(self, array: Any) -> Any:
        return array.detach().cpu().numpy() if hasattr(array, "detach") else np.asarray(array)

    def owns(self, array: Any) -> bool:
        """Whether ``array`` is one of this library's."""
        return type(array).__module__.split(".")[0] == self.name


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A test whose code names torch is a torch test, marked or not: ``-m torch`` has to find them all."""
    for item in items:
        code = getattr(getattr(item, "function", None), "__code__", None)
        if code is not None and "torch" in (*code.co_names, *code.co_varnames):
            item.add_marker("torch")


@pytest.fixture(params=["numpy", pytest.param("torch", marks=pytest.mark.torch)])
def lib(request: pytest.FixtureRequest) -> Library:
    """Each test that asks for it runs once a library; ``pytest -m torch`` runs the torch half alone."""
    if request.param == "torch" and importlib.util.find_spec("torch") is None:
        pytest.skip("torch is not installed: pip install 'invarot[torch]'")
    return Library(request.param)


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder of measured data: $INVAROT_DATA, or shared/data beside the repository."""
    named = os.environ.get("INVAROT_DATA")
    folder = Path(named) if named else Path(__file__).resolve().parents[2] / "shared" / "data"
    if not folder.is_dir():
        pytest.skip(f"no data at {folder}: set INVAROT_DATA to the folder that holds europarl100/, glove/, muse/, …")
    return folder
