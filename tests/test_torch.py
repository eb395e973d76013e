"""The adapter as a torch module."""

from __future__ import annotations

import numpy as np
import pytest

from invarot.errors import InputError
from invarot.migration import Adapter

pytestmark = pytest.mark.torch
MAP = np.linalg.qr(np.random.default_rng(0).normal(size=(5, 5)))[0][:, :3].astype(np.float32)


@pytest.fixture
def module(tmp_path):
    pytest.importorskip("torch", reason="torch is not installed: pip install 'invarot[torch]'")
    import invarot.torch

    Adapter(MAP).save(tmp_path / "a.safetensors")
    return invarot.torch.Adapter.load(tmp_path / "a.safetensors")


def test_it_does_what_the_file_says_in_every_dtype(module):
    import torch

    rows = np.random.default_rng(1).normal(size=(4, 5))
    for dtype, near in ((torch.float64, 1e-6), (torch.float32, 1e-6), (torch.float16, 1e-2), (torch.bfloat16, 5e-2)):
        found = module(torch.as_tensor(rows, dtype=dtype))
        assert found.dtype == dtype
        np.testing.assert_allclose(found.detach().float().numpy(), Adapter(MAP).apply(rows), atol=near)
    assert module(torch.ones(2, 7, 5)).shape == (2, 7, 3)


def test_gradients_are_right(module):
    import torch

    rows = torch.randn(3, 5, dtype=torch.float64, requires_grad=True, generator=torch.Generator().manual_seed(0))
    module.double()
    assert torch.autograd.gradcheck(module, (rows,))
    module(rows).sum().backward()
    assert module.map.grad is not None
    module.requires_grad_(False)
    assert not module(rows.detach()).requires_grad
    assert torch.isfinite(module(torch.zeros(1, 5, dtype=torch.float64))).all()


def test_a_state_dict_and_the_dict_of_sentence_transformers(module):
    import torch

    assert list(module.state_dict()) == ["map"]
    found = module({"sentence_embedding": torch.ones(1, 5), "input_ids": 1})
    assert found["sentence_embedding"].shape == (1, 3)
    assert found["input_ids"] == 1


def test_bad_input(module):
    import torch

    with pytest.raises(InputError, match="expected 5 columns"):
        module(torch.ones(2, 3))
    with pytest.raises(InputError, match="map: expected a table"):
        type(module)(torch.ones(3))


def test_arrays_that_run_backwards_go_to_torch():
    torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'invarot[torch]'")
    import invarot

    x = np.random.default_rng(0).normal(size=(20, 2))
    assert torch.is_tensor(invarot.align(x[::-1], x).to("cpu").map)
