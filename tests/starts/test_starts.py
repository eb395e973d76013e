"""What every start promises: shape, feasibility, determinism, and no eye for the order of rows."""

from __future__ import annotations

import numpy as np
import pytest

from invarot.starts import STARTS

NAMES = sorted(STARTS)


def options(name, twins):
    if name == "given":
        return {"maps": twins.map}
    if name == "seeds":
        return {"pairs": np.stack([np.arange(4), twins.match[:4]], axis=1)}
    return {}


def run(name, twins, **more):
    return STARTS[name](
        twins.x, twins.y, twins.a, twins.b, rng=np.random.default_rng(3), **{**options(name, twins), **more}
    )


def assert_feasible(maps, dx, dy, name):
    assert maps.ndim == 3
    assert maps.shape[0] >= 1
    assert maps.shape[1:] == (dx, dy)
    for found in maps:
        singular = np.linalg.svd(found, compute_uv=False)
        # Algorithm 1's start is a matrix scaled into the ball, not an orthogonal one
        np.testing.assert_allclose(singular[:1] if name == "gaussian" else singular, 1.0, atol=1e-5)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("dx", "dy"), [(1, 1), (4, 4), (6, 4), (3, 7)])
def test_every_start_gives_feasible_maps(name, dx, dy, twins):
    case = twins(40, dx, dy, weights=True)
    assert_feasible(run(name, case), dx, dy, name)


@pytest.mark.parametrize("name", NAMES)
def test_same_rng_same_answer(name, twins):
    case = twins(40, 3)
    np.testing.assert_array_equal(run(name, case), run(name, case))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("weights", [False, True])
def test_row_order_does_not_matter(name, weights, twins):
    case = twins(60, 3, noise=0.1, weights=weights)
    expected = run(name, case)
    shuffle_x, shuffle_y = np.random.default_rng(1).permutation(60), np.random.default_rng(2).permutation(60)
    more = options(name, case)
    if name == "seeds":
        back_x, back_y = np.argsort(shuffle_x), np.argsort(shuffle_y)
        more = {"pairs": np.stack([back_x[more["pairs"][:, 0]], back_y[more["pairs"][:, 1]]], axis=1)}
    got = STARTS[name](
        case.x[shuffle_x], case.y[shuffle_y], case.a[shuffle_x], case.b[shuffle_y], rng=np.random.default_rng(3), **more
    )
    np.testing.assert_allclose(got, expected, atol=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_torch_and_numpy_agree(name, twins):
    torch = pytest.importorskip("torch")
    case = twins(40, 3, noise=0.05, weights=True)
    expected = run(name, case)
    tensors = [torch.asarray(v) for v in (case.x, case.y, case.a, case.b)]
    got = STARTS[name](*tensors, rng=np.random.default_rng(3), **options(name, case))
    assert isinstance(got, torch.Tensor)
    np.testing.assert_allclose(got.numpy(), expected, atol=1e-5)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", ["two points", "one point", "constant", "zero", "unequal"])
def test_tiny_and_degenerate_clouds(name, kind):
    rng = np.random.default_rng(0)
    x, y = {
        "two points": (np.array([[-1.0], [2.0]]), np.array([[1.0], [-2.0]])),
        "one point": (np.ones((1, 2)), np.ones((1, 2))),
        "constant": (np.ones((6, 3)), np.ones((6, 3))),
        "zero": (np.zeros((5, 2)), np.zeros((5, 2))),
        "unequal": (rng.standard_normal((7, 2)), rng.standard_normal((4, 2))),
    }[kind]
    a, b = np.full(len(x), 1 / len(x)), np.full(len(y), 1 / len(y))
    more = {"maps": np.eye(x.shape[1])} if name == "given" else {"pairs": [(0, 0)]} if name == "seeds" else {}
    assert_feasible(STARTS[name](x, y, a, b, rng=rng, **more), x.shape[1], y.shape[1], name)


@pytest.mark.parametrize("name", ["axes", "signature", "relaxation", "seeds"])
@pytest.mark.parametrize(("dx", "dy"), [(2, 2), (3, 3), (10, 10), (5, 8)])
@pytest.mark.parametrize("weights", [False, True])
def test_rotated_shuffled_clouds_are_recovered(name, dx, dy, weights, twins, recovered):
    case = twins(80, dx, dy, seed=dx, weights=weights)
    assert recovered(case, run(name, case)) == 1.0


@pytest.mark.parametrize("name", ["signature", "relaxation"])
def test_recovery_with_noise(name, twins, recovered):
    case = twins(100, 8, noise=0.1, seed=5)
    assert recovered(case, run(name, case)) >= 0.98


def test_float32_stays_float32(twins):
    case = twins(50, 3)
    small = [v.astype(np.float32) for v in (case.x, case.y, case.a, case.b)]
    for name in NAMES:
        found = STARTS[name](*small, rng=np.random.default_rng(0), **options(name, case))
        assert found.dtype == np.float32, name
