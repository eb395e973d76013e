"""Clouds with a known answer, and the few alternation steps that turn a good start into it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from invarot.threads import own_threads


@pytest.fixture(autouse=True)
def one_thread_for_blas():
    """As `align` has it: BLAS threads that wait for each other make small products slow."""
    with own_threads():
        yield


@dataclass
class Twins:
    """y is x turned by ``map`` with its rows shuffled: row i of x is row ``match[i]`` of y."""

    x: np.ndarray
    y: np.ndarray
    a: np.ndarray
    b: np.ndarray
    map: np.ndarray
    match: np.ndarray


@pytest.fixture
def twins():
    def make(n, dx, dy=None, *, noise=0.0, seed=0, weights=False):
        rng = np.random.default_rng(seed)
        dy = dx if dy is None else dy
        d = min(dx, dy)
        core = rng.standard_normal((n, d)) * np.linspace(2, 1, d) + rng.exponential(size=(n, d))
        core -= core.mean(axis=0)
        left = np.linalg.qr(rng.standard_normal((dx, dx)))[0][:, :d]
        right = np.linalg.qr(rng.standard_normal((dy, dy)))[0][:, :d]
        match = rng.permutation(n)
        a = rng.uniform(0.5, 2, n) if weights else np.ones(n)
        y, b = np.empty((n, dy)), np.empty(n)
        y[match], b[match] = core @ right.T + noise * rng.standard_normal((n, dy)), a
        return Twins(core @ left.T, y, a / a.sum(), b / b.sum(), left @ right.T, match)

    return make


@pytest.fixture
def recovered():
    """Share of matches found after a few steps of exact assignment and polar factor, by the best candidate."""

    def run(twins, maps, steps=10):
        best, share = -np.inf, 0.0
        for start in np.asarray(maps):
            found = start
            for _ in range(steps):
                columns = linear_sum_assignment(-(twins.x @ found @ twins.y.T))[1]
                u, _, vt = np.linalg.svd(twins.x.T @ twins.y[columns], full_matrices=False)
                found = u @ vt
            value = np.sum((twins.x @ found) * twins.y[columns])
            if value > best:
                best, share = value, float(np.mean(columns == twins.match))
        return share

    return run
