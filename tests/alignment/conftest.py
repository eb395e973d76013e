"""Clouds with a known answer."""

from dataclasses import dataclass

import numpy as np
import pytest

from invarot.threads import own_threads


@pytest.fixture(autouse=True)
def one_thread_for_blas():
    """As `align` has it: BLAS threads that wait for each other make small products slow."""
    with own_threads():
        yield


@dataclass
class Twins:
    """y holds x, turned by ``map`` and with its rows shuffled: row i of x is row ``match[i]`` of y."""

    x: np.ndarray
    y: np.ndarray
    map: np.ndarray
    match: np.ndarray


@pytest.fixture(scope="session")
def plane_twins():
    def make(seed, *, noise=0.0):
        """A thousand points of a normal cloud in the plane, them turned and shuffled (noise in parts of the spread), and the turn."""
        rng = np.random.default_rng([seed, 1000, 2, 0])
        turn = np.linalg.qr(rng.standard_normal((2, 2)))[0]
        x = rng.standard_normal((1000, 2)) * [1.5, 0.5]
        y = (x @ turn)[rng.permutation(1000)]
        return x, y + noise * np.sqrt(np.mean(np.var(y, axis=0))) * rng.standard_normal(y.shape), turn

    return make


@pytest.fixture(scope="session")
def twins():
    def make(n=60, dx=3, dy=None, *, noise=0.0, seed=0, reflect=None):
        rng = np.random.default_rng(seed)
        dy = dx if dy is None else dy
        d = min(dx, dy)
        core = rng.gamma(2.0, size=(n, d)) * np.linspace(2, 1, d)
        core -= core.mean(axis=0)
        left = np.linalg.qr(rng.standard_normal((dx, dx)))[0][:, :d]
        right = np.linalg.qr(rng.standard_normal((dy, dy)))[0][:, :d]
        if reflect is not None and (np.linalg.det(left @ right.T) < 0) != reflect:
            left = left * np.asarray([-1] + [1] * (d - 1))
        match = rng.permutation(n)
        y = np.empty((n, dy))
        y[match] = core @ right.T + noise * rng.standard_normal((n, dy))
        return Twins(core @ left.T, y, left @ right.T, match)

    return make
