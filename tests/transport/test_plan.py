"""The entropic plan as an operator says what its dense matrix says."""

import numpy as np
import pytest

import invarot
import invarot.transport.plan as module
from invarot.transport.plan import EntropicPlan, extend
from invarot.transport.sparse_plan import SparsePlan


def make(lib=None, n=12, m=9, dtype="float64"):
    rng = np.random.default_rng(0)
    parts = [rng.standard_normal((n, 2)), rng.standard_normal((m, 2)), np.full(n, 1 / n), np.full(m, 1 / m),
             rng.standard_normal(n), rng.standard_normal(m)]  # fmt: skip
    parts = [part.astype(dtype) for part in parts]
    return EntropicPlan(*(lib.array(part) if lib else part for part in parts), 0.7, 0.0, 1), parts


@pytest.mark.parametrize("rows", [1, 20, 1 << 22])
def test_operators_agree_with_the_formula(lib, monkeypatch, rows):
    monkeypatch.setattr(module, "ENTRIES", rows)
    plan, (z, y, a, b, u, v) = make(lib)
    dense = a[:, None] * b * np.exp(2 / 0.7 * z @ y.T + u[:, None] + v)
    values = np.random.default_rng(1).standard_normal((9, 3))
    np.testing.assert_allclose(lib.numpy(plan.dense()), dense, rtol=1e-10)
    np.testing.assert_allclose(np.asarray(plan), dense, rtol=1e-10)
    assert np.asarray(plan, dtype=np.float32).dtype == np.float32
    np.testing.assert_allclose(lib.numpy(plan.apply(lib.array(values))), dense @ values, rtol=1e-9)
    np.testing.assert_allclose(lib.numpy(plan.apply(lib.array(values[:, 0]))), dense @ values[:, 0], rtol=1e-9)
    np.testing.assert_allclose(lib.numpy(plan.apply_transposed(lib.array(z))), dense.T @ z, rtol=1e-9)
    np.testing.assert_allclose(lib.numpy(plan.marginals()[0]), dense.sum(1), rtol=1e-10)
    np.testing.assert_allclose(lib.numpy(plan.marginals()[1]), dense.sum(0), rtol=1e-10)
    np.testing.assert_array_equal(lib.numpy(plan.matches()), dense.argmax(1))
    assert plan.cost() == pytest.approx(np.sum(dense * np.sum((z[:, None] - y) ** 2, axis=2)))
    assert plan.entropy() == pytest.approx(-np.sum(dense * np.log(dense)))
    np.testing.assert_allclose(lib.numpy(plan.transposed().dense()), dense.T, rtol=1e-10)


def test_extend_adds_points_of_no_weight(lib):
    plan, (z, y, a, b, _, _) = make(lib)
    more_z = np.concatenate([z[:4], [[9.0, 9.0]], z[4:]])
    more_y = np.concatenate([y, [[1.0, -1.0], [2.0, 0.0]]])
    more_a, more_b = np.insert(a, 4, 0.0), np.append(b, [0.0, 0.0])
    used_x, used_y = np.flatnonzero(more_a), np.flatnonzero(more_b)
    parts = (lib.array(part) for part in (more_z, more_y, more_a, more_b, used_x, used_y))
    whole = extend(plan, *parts)
    dense = lib.numpy(whole.dense())
    np.testing.assert_allclose(dense[np.ix_(used_x, used_y)], lib.numpy(plan.dense()), rtol=1e-10)
    assert dense[4].sum() == 0
    assert dense[:, 9:].sum() == 0
    matches = lib.numpy(whole.matches())
    assert (matches < 9).all()
    assert np.isfinite(lib.numpy(whole.u)).all()
    assert np.isfinite(lib.numpy(whole.v)).all()
    assert plan.entropy() == pytest.approx(whole.entropy())


def test_a_plan_is_shown_by_its_size():
    plan = make()[0]
    assert repr(plan) == "EntropicPlan of 12 × 9 points (epsilon 0.7, marginal error 0.0e+00)"
    exact = SparsePlan(plan.z, plan.y, np.arange(9), np.arange(9), np.full(9, 1 / 9))
    assert repr(exact) == "SparsePlan of 12 × 9 points (epsilon 0, marginal error 0.0e+00)"


def test_a_plan_takes_labels_as_they_come():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(30, 2))
    plan = invarot.align(x, x[::-1]).plan
    labels = np.eye(3, dtype=int)[np.arange(30) % 3]
    for values in (labels, labels > 0):
        assert np.allclose(plan.apply(values), plan.dense() @ labels)
        assert np.allclose(plan.apply_transposed(values), plan.dense().T @ labels)
