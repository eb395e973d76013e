"""A cloud without symmetry, and the same cloud elsewhere."""

from __future__ import annotations

import numpy as np

from invarot.clouds import Cloud

TURN = np.array([[0.36, 0.48, -0.8], [-0.8, 0.6, 0.0], [0.48, 0.64, 0.6]])  # q = TURN p, a proper rotation
SHIFT = np.array([5.0, -3.0, 2.0])


def draw_surface(n: int, seed: int = 0) -> np.ndarray:
    """Points of a bent sheet with a bump, which no rotation and no mirror maps to itself."""
    u, v = np.random.default_rng(seed).uniform(-1, 1, (2, n))
    return np.column_stack(
        [2 * u, 1.3 * v + 0.3 * u**2, 0.5 * np.sin(2 * u) * v + np.exp(-8 * ((u - 0.4) ** 2 + v**2))]
    )


def moved_pair(n: int = 120, *, scale: float = 1.0, mirror: bool = False) -> tuple[Cloud, Cloud, np.ndarray]:
    """Source, target (rows mixed) and the 4×4 matrix between them."""
    source = draw_surface(n)
    matrix = np.eye(4)
    matrix[:3, :3] = scale * TURN @ np.diag([-1.0 if mirror else 1.0, 1, 1])
    matrix[:3, 3] = SHIFT
    target = source @ matrix[:3, :3].T + matrix[:3, 3]
    return Cloud(source), Cloud(target[np.random.default_rng(1).permutation(n)]), matrix
