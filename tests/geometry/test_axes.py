"""Principal axes by formulas: those of a general solver, also where eigenvalues coincide."""

import numpy as np
import pytest

from invarot.geometry.axes import find_axes


@pytest.mark.parametrize("d", [1, 2, 3, 4])
def test_they_are_eigenvectors_by_rising_eigenvalue(d):
    rng = np.random.default_rng(d)
    turns = np.linalg.qr(rng.standard_normal((200, d, d)))[0]
    values = np.sort(rng.uniform(size=(200, d)), axis=1)
    matrices = (turns * values[:, None]) @ np.swapaxes(turns, 1, 2)
    axes = find_axes(matrices)
    np.testing.assert_allclose(np.abs(np.einsum("kde,kde->ke", turns, axes)), 1.0, atol=1e-8)


@pytest.mark.parametrize(
    "values", [(0, 1, 1), (0, 0, 1), (1, 1, 1), (0, 0, 0), (0, 1e-14, 1), (1, 1, 1 + 1e-12), (0, 1e9, 1e9)]
)
def test_equal_eigenvalues_give_some_frame(values):
    rng = np.random.default_rng(0)
    turns = np.linalg.qr(rng.standard_normal((50, 3, 3)))[0]
    turns[0] = np.eye(3)
    matrices = (turns * np.asarray(values, dtype=float)) @ np.swapaxes(turns, 1, 2)
    axes = find_axes(matrices)
    np.testing.assert_allclose(np.swapaxes(axes, 1, 2) @ axes, np.broadcast_to(np.eye(3), axes.shape), atol=1e-9)
    found = np.swapaxes(axes, 1, 2) @ matrices @ axes
    np.testing.assert_allclose(found, np.broadcast_to(np.diag(values), found.shape), atol=1e-7 * max(values))
