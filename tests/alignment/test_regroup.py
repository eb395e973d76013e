"""Swapped matches of few points in many dimensions, on clouds whose answer is known."""

from __future__ import annotations

import numpy as np
import pytest

import invarot
from invarot.alignment import regroup as regrouping
from invarot.alignment.problem import pose
from invarot.alignment.regroup import regroup, swap_gains
from invarot.alignment.settings import Settings


def strength(moment: np.ndarray) -> float:
    return float(np.linalg.svd(moment, compute_uv=False).sum())


@pytest.mark.parametrize(("n", "dx", "dy"), [(20, 20, 20), (30, 12, 12), (20, 12, 8), (20, 8, 12)])
def test_the_gain_of_a_swap_is_that_of_the_nuclear_norm(n, dx, dy):
    rng = np.random.default_rng(n + dx)
    x, y = rng.standard_normal((n, dx)), rng.standard_normal((n, dy))
    y[:, : min(dx, dy)] += 2 * x[:, : min(dx, dy)]
    rows, columns = np.triu_indices(n, 1)
    found = swap_gains(x, y, rows, columns)
    expected = []
    for i, j in zip(rows, columns, strict=True):
        order = np.arange(n)
        order[[i, j]] = j, i
        expected.append(strength(x.T @ y[order]) - strength(x.T @ y))
    assert np.allclose(found, expected, atol=1e-3 * np.abs(expected).max())
    assert np.allclose(swap_gains(1e-120 * x, 1e60 * y, rows, columns), 1e-60 * found, rtol=1e-6, atol=0)
    assert not swap_gains(0 * x, y, rows, columns).any()


def two_swapped() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Fifty noisy points in a hundred dimensions of which two, matched to each other's twins, escape every group."""
    rng = np.random.default_rng([11, 50, 100, 1])
    turn = np.linalg.qr(rng.standard_normal((100, 100)))[0]
    x = rng.uniform(-1, 1, (50, 100)) * np.linspace(1.5, 0.5, 100) + 0.2 * rng.uniform(0, 1, (50, 1)) ** 2
    order = rng.permutation(50)
    y = (x @ turn)[order]
    return x, y + 0.2 * np.sqrt(np.mean(np.var(y, axis=0))) * rng.standard_normal(y.shape), np.argsort(order)


def test_two_swapped_matches_are_found_among_all_pairs(monkeypatch):
    x, y, truth = two_swapped()
    swapped = truth.copy()
    swapped[[31, 44]] = truth[[44, 31]]
    u, _, vt = np.linalg.svd(x.T @ y[swapped])
    a = np.full(50, 1 / 50)
    problem = pose(x, y, a, a, Settings())
    better = regroup(problem, u @ vt, np.random.default_rng(0))
    assert better is not None
    assert np.array_equal(np.argmax(x @ better @ y.T - np.sum(y**2, axis=1) / 2, axis=1), truth)
    assert regroup(problem, better, np.random.default_rng(0)) is None
    monkeypatch.setattr(regrouping, "_swapped", lambda x, y, match, best: (best, match))
    assert regroup(problem, u @ vt, np.random.default_rng(0)) is None


def test_auto_ends_with_every_match_right():
    x, y, truth = two_swapped()
    assert np.array_equal(invarot.align(x, y, rng=11).matches(), truth)
