"""Arrays that come in and go out: dtypes, devices, gradients, other libraries."""

from __future__ import annotations

import decimal

import numpy as np
import pytest

import invarot
from invarot.errors import InputError

RNG = np.random.default_rng(0)
X = RNG.gamma(2.0, size=(60, 3))
TURN = np.linalg.qr(RNG.normal(size=(3, 3)))[0]
Y = X[::-1] @ TURN


@pytest.fixture(scope="module")
def result():
    return invarot.align(X, Y)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_transform_keeps_the_dtype(result, dtype):
    found = result.transform(X.astype(dtype))
    assert found.dtype == dtype
    np.testing.assert_allclose(found, X @ TURN, atol=2e-2)
    assert result.inverse_transform(found).dtype == dtype


def test_whole_numbers_and_lists_come_out_as_the_map_is(result):
    assert result.transform([[1, 2, 3]]).dtype == result.map.dtype
    assert result.transform(np.ones((2, 3), int)).dtype == np.float64


def test_objects_that_are_numbers_are_numbers():
    found = invarot.align(X.astype(object), [[decimal.Decimal(repr(float(v))) for v in row] for row in Y])
    np.testing.assert_allclose(found.map, invarot.align(X, Y).map)
    broken = X.astype(object)
    broken[3, 1] = "1.5"
    with pytest.raises(InputError, match=r"x: expected real numbers, got str '1.5' at \[3, 1\] of an array of objects"):
        invarot.align(broken, Y)


@pytest.mark.parametrize(
    ("module", "advice"),
    [("jaxlib.xla", r"np.asarray\(x\)"), ("cupy", r"torch.from_dlpack\(x\), which stays on the GPU")],
)
def test_other_libraries_are_told_what_to_pass(module, advice):
    other = type("Array", (), {"__module__": module, "shape": (60, 3)})()
    with pytest.raises(InputError, match=f"x: expected a NumPy array or a torch tensor, got a .* Array; pass {advice}"):
        invarot.align(other, Y)


def test_a_transposed_pair_is_asked_about():
    found = invarot.align(RNG.normal(size=(5, 40)), RNG.normal(size=(6, 40)))
    assert any("pass x.T and y.T" in reason for reason in found.verdict.reasons)


def test_gradients_dtype_and_device_survive_saving(result, tmp_path):
    torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'invarot[torch]'")
    result.save(tmp_path / "model")
    for one in (result, invarot.load(tmp_path / "model"), result.to("cpu")):
        points = torch.tensor(X, requires_grad=True)
        assert torch.autograd.gradcheck(one.transform, (points[:4],))
        assert torch.autograd.gradcheck(one.inverse_transform, (points[:4],))
        for dtype in (torch.bfloat16, torch.float16, torch.float32):
            moved = one.transform(points.to(dtype))
            assert moved.dtype == dtype
            assert moved.requires_grad
    assert isinstance(result.to("cpu").map, torch.Tensor)
    assert isinstance(result.to("cpu").to("numpy").plan.z, np.ndarray)
    assert result.to("cpu").verdict == result.verdict
    with pytest.raises(InputError, match='device: expected "numpy" or a device of torch'):
        result.to("gpu")


def test_half_precision_goes_in():
    torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'invarot[torch]'")
    found = invarot.align(torch.tensor(X, dtype=torch.bfloat16), torch.tensor(Y, dtype=torch.float16))
    assert found.map.dtype == torch.float32
    np.testing.assert_allclose(found.map.numpy(), TURN, atol=0.02)
