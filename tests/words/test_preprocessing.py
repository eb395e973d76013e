"""Preprocessing: known answers, the same treatment for new rows, storage."""

from __future__ import annotations

import json

import numpy as np
import pytest

from invarot.errors import InputError
from invarot.words import Preprocessing

X = np.random.default_rng(5).standard_normal((60, 7)) + 2.0


def unit(x: np.ndarray) -> np.ndarray:
    return x / np.linalg.norm(x, axis=1, keepdims=True)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_default_is_unit_center_unit(dtype: type) -> None:
    fitted, prepared = Preprocessing().fit_apply(X.astype(dtype))
    expected = unit(unit(X) - unit(X).mean(axis=0))
    assert prepared.dtype == dtype
    np.testing.assert_allclose(prepared, expected, atol=1e-6)
    np.testing.assert_array_equal(fitted.apply(X.astype(dtype)), prepared)


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ((), X),
        (("none",), X),
        (("unit",), unit(X)),
        (("center",), X - X.mean(axis=0)),
        (("center", "unit", "center"), unit(X - X.mean(axis=0)) - unit(X - X.mean(axis=0)).mean(axis=0)),
    ],
)
def test_each_step_is_an_option(steps: tuple[str, ...], expected: np.ndarray) -> None:
    fitted, prepared = Preprocessing(steps=steps).fit_apply(X)
    np.testing.assert_allclose(prepared, expected, atol=1e-12)
    assert len(fitted.means or ()) == steps.count("center")


def test_new_rows_use_the_means_that_were_fitted() -> None:
    fitted = Preprocessing(steps=("center",)).fit(X)
    np.testing.assert_allclose(fitted.apply(np.ones((1, 7))), 1 - X.mean(axis=0)[None], atol=1e-12)


def test_zero_rows_and_extreme_rows() -> None:
    x = np.array([[0, 0], [3e30, 4e30], [3e-30, 4e-30], [0, -1]], np.float32)
    prepared = Preprocessing(steps=("unit",)).fit_apply(x)[1]
    np.testing.assert_allclose(prepared, [[0, 0], [0.6, 0.8], [0.6, 0.8], [0, -1]], rtol=1e-6)


def test_torch_gives_what_numpy_gives() -> None:
    torch = pytest.importorskip("torch")
    fitted, prepared = Preprocessing().fit_apply(torch.asarray(X, dtype=torch.float32))
    assert prepared.dtype == torch.float32
    np.testing.assert_allclose(prepared.numpy(), Preprocessing().fit_apply(X)[1], atol=1e-6)
    np.testing.assert_allclose(fitted.apply(X), Preprocessing().fit(X).apply(X), atol=1e-6)


def test_storage_round_trip() -> None:
    fitted = Preprocessing(steps=("center", "unit", "center")).fit(X)
    settings = json.loads(json.dumps(fitted.to_dict()))
    loaded = Preprocessing.from_dict(settings, {**fitted.arrays(), "map": np.eye(2)})
    np.testing.assert_array_equal(loaded.apply(X), fitted.apply(X))
    bare = Preprocessing.from_dict(Preprocessing().to_dict(), {})
    assert bare.steps == ("unit", "center", "unit")
    assert bare.means is None
    with pytest.raises(InputError, match="mean_1"):
        Preprocessing.from_dict(settings, {"mean_0": X[0]})
    with pytest.raises(InputError, match="steps"):
        Preprocessing.from_dict({}, {})


def test_bad_input() -> None:
    with pytest.raises(InputError, match="expected unit, center, none, got 'whiten'"):
        Preprocessing(steps=("whiten",))
    with pytest.raises(InputError, match="got the string"):
        Preprocessing(steps="unit")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="one per center step"):
        Preprocessing(means=())
    with pytest.raises(InputError, match="expected it to be fitted"):
        Preprocessing().apply(X)
    with pytest.raises(InputError, match=r"expected \(n, 7\) as in fit, got \(60, 3\)"):
        Preprocessing().fit(X).apply(X[:, :3])
    for wrong in (X[0], X.astype(int), X.tolist(), X[:, :0], X[:0]):
        with pytest.raises(InputError, match="x: expected"):
            Preprocessing().fit(wrong)
