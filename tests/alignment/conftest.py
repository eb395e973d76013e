"""Clouds with a known answer."""

from dataclasses import dataclass

import numpy as np
import pytest


@dataclass
class Twins:
    """y holds x, turned by ``map`` and with its rows shuffled: row i of x is row ``match[i]`` of y."""

    x: np.ndarray
    y: np.ndarray
    map: np.ndarray
    match: np.ndarray


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
