"""Every check names the argument, what was expected, and what came."""

import math

import numpy as np
import pytest
import scipy.sparse

from invarot.checks import (
    check_choice,
    check_count,
    check_flag,
    check_known,
    check_map,
    check_number,
    check_points,
    check_rng,
    check_same_library,
    check_weights,
    common_dtype,
)  # fmt: skip
from invarot.errors import InputError

GOOD = np.arange(6.0).reshape(3, 2)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ([[1, 2], [float("nan"), 4]], "row 1, column 0"),
        ([[1, np.inf], [3, 4]], "row 0, column 1"),
        (np.zeros((0, 3)), "at least 2 points"),
        (np.zeros((3, 0)), "at least 1 feature"),
        (np.zeros((1, 3)), "at least 2 points"),
        ([1.0, 2.0], r"2-D.*reshape"),
        ([1.0, 2.0], r"reshape\(1, -1\) for one point"),
        (np.zeros((2, 2, 2)), "3-D; use x.reshape"),
        (scipy.sparse.csr_array(GOOD), "dense array, got a sparse csr_array"),
        (3.0, "0-D"),
        (None, "NoneType"),
        ("abc", "str"),
        ({"a": 1}, "dict"),
        ([[1, 2], [3]], "equal length"),
        (np.asarray([["a", "b"], ["c", "d"]]), "real numbers"),
        (np.asarray([[1, "b"], [2, 3]], dtype=object), "real numbers"),
        (GOOD + 1j, "real numbers"),
        ((GOOD + 1j).tolist(), "real numbers"),
        (np.ma.masked_greater(GOOD, 3), "masked"),
    ],
)
def test_points_refused(value, words):
    with pytest.raises(InputError, match=f"^x: .*{words}"):
        check_points(value, "x")


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8", "int64", "uint8"])
def test_points_of_any_number_type(lib, dtype):
    found = check_points(lib.array(GOOD, dtype), "x")
    assert lib.owns(found)
    np.testing.assert_array_equal(lib.numpy(found), GOOD)
    assert str(found.dtype).endswith("float32" if dtype in ("float16", "float32") else "float64")


def test_points_from_python():
    np.testing.assert_array_equal(check_points(GOOD.tolist(), "x"), GOOD)
    np.testing.assert_array_equal(check_points([(0, 1), (2, 3), (4, 5)], "x"), GOOD)
    np.testing.assert_array_equal(check_points(GOOD[::-1, ::-1], "x"), GOOD[::-1, ::-1])
    assert type(check_points(np.ma.masked_array(GOOD), "x")) is np.ndarray
    assert check_points([[1, 2]], "x", least=1).shape == (1, 2)


def test_data_frames():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(GOOD, columns=["a", "b"])
    frame["c"] = [1, 2, 3]
    np.testing.assert_array_equal(check_points(frame, "x"), np.column_stack([GOOD, [1, 2, 3]]))
    frame["word"] = ["p", "q", "r"]
    with pytest.raises(InputError, match="select_dtypes"):
        check_points(frame, "x")


@pytest.mark.torch
def test_tensors_that_require_gradients_are_detached():
    torch = pytest.importorskip("torch")
    assert not check_points(torch.ones(3, 2, requires_grad=True), "x").requires_grad


@pytest.mark.torch
def test_libraries_do_not_mix():
    torch = pytest.importorskip("torch")
    with pytest.raises(InputError, match=r"x and y: .*numpy and torch \(cpu\)"):
        check_same_library(GOOD, torch.as_tensor(GOOD))
    with pytest.raises(InputError, match=r"torch \(cpu\) and torch \(meta\)"):
        check_same_library(torch.as_tensor(GOOD), torch.empty(3, 2, device="meta"))


def test_common_dtype(lib):
    x, y = common_dtype(lib.array(GOOD, "float32"), lib.array(GOOD, "float64"))
    assert x.dtype == y.dtype == lib.array(GOOD).dtype


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ([0.5, 0.6, -0.1], "≥ 0"),
        ([0.5, 0.5], "3 weights"),
        ([[0.5, 0.25, 0.25]], "3 weights"),
        ([0.5, 0.5, 0.5], r"sum to 1.*1\.5"),
        ([0, 0, 0], "all zero"),
        ([math.nan, 0.5, 0.5], "finite"),
        (["a", "b", "c"], "real numbers"),
    ],
)
def test_weights_refused(value, words):
    with pytest.raises(InputError, match=f"^a: .*{words}"):
        check_weights(value, "a", GOOD)


def test_weights(lib):
    points = lib.array(GOOD, "float32")
    np.testing.assert_allclose(lib.numpy(check_weights(None, "a", points)), 1 / 3)
    found = check_weights([0.5, 0.25, 0.25 + 1e-6], "a", points)
    assert found.dtype == points.dtype
    assert float(found.sum()) == pytest.approx(1, abs=1e-7)
    assert lib.numpy(check_weights([0, 1, 0], "a", points)).tolist() == [0, 1, 0]


@pytest.mark.parametrize("value", [0.5, -1, math.nan, "2", None, True, [2]])
def test_number_refused(value):
    with pytest.raises(InputError, match=r"^p: expected a number ≥ 1"):
        check_number(value, "p", low=1)


def test_numbers():
    assert check_number(math.inf, "p", low=1) == math.inf
    assert check_number(np.float32(2), "p", low=1) == 2
    with pytest.raises(InputError, match=r"got 'inf'; pass a number, such as math\.inf"):
        check_number("inf", "p", low=1)
    with pytest.raises(InputError, match="> 0"):
        check_number(0, "radius", low=0, open_low=True)
    with pytest.raises(InputError, match="≤ 1"):
        check_number(2, "tol", low=0, high=1)


def test_the_rest():
    for value in (0, 2.0, "3", True):
        with pytest.raises(InputError, match=r"^n: expected a whole number"):
            check_count(value, "n")
    for value in (1, "True", None):
        with pytest.raises(InputError, match=r"^flag: expected True or False"):
            check_flag(value, "flag")
    with pytest.raises(InputError, match="did you mean 'exact'"):
        check_choice("exakt", "plan", ("sinkhorn", "exact"))
    with pytest.raises(InputError, match=r"expected a known option, got 'epsilonn'; did you mean 'epsilon'\?"):
        check_known(["epsilonn"], ["epsilon", "rng"], "recipe")
    for value in (-1, 1.5, "0", None, np.random.RandomState(0), True):
        with pytest.raises(InputError, match=r"^rng: "):
            check_rng(value)
    generator = np.random.default_rng(3)
    assert check_rng(generator) is generator
    assert check_rng(3).integers(1 << 30) == np.random.default_rng(3).integers(1 << 30)


def test_maps():
    assert check_map(np.eye(3, 2), "start", 3, 2, GOOD).shape == (1, 3, 2)
    assert check_map(np.zeros((4, 3, 2)), "start", 3, 2, GOOD).shape == (4, 3, 2)
    for value in (np.eye(2, 3), np.eye(3), np.zeros(6), np.zeros((0, 3, 2)), np.zeros((1, 1, 3, 2))):
        with pytest.raises(InputError, match=r"^start: .*\(3, 2\)"):
            check_map(value, "start", 3, 2, GOOD)
    with pytest.raises(InputError, match="finite"):
        check_map(np.full((3, 2), np.nan), "start", 3, 2, GOOD)
