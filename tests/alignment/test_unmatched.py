"""The matched part of clouds that correspond in part, as it is judged."""

from __future__ import annotations

import numpy as np

from invarot.alignment.overlap import Overlap
from invarot.alignment.tuning import QUERIES
from invarot.alignment.unmatched import allow_unmatched, keep_matched

from .clouds import posed


def test_the_matched_part_is_judged_about_a_point_and_its_image():
    rng = np.random.default_rng(3)
    x = rng.normal(size=(60, 3))
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    y = np.concatenate([x[:10], x]) @ turn + [3.0, 1.0, -2.0]  # denser in one place: another centre
    problem = allow_unmatched(posed(x, y, translate=True), Overlap(), translate=True, rng=rng)
    offset = np.asarray([3.0, 1.0, -2.0]) + problem.frame_x.origin @ turn - problem.frame_y.origin
    kept, w = keep_matched(problem, np.concatenate([turn, offset[None]]), (np.ones(60), np.ones(70)))
    np.testing.assert_allclose(kept.x @ w, kept.y[10:], atol=1e-12)


def test_many_points_of_a_surface_are_judged_at_an_even_density():
    rng = np.random.default_rng(4)
    x = np.concatenate([rng.uniform(0, 1, (3000, 3)), rng.uniform(0, 0.1, (3000, 3))])
    problem = allow_unmatched(posed(x, x, translate=True), Overlap(), translate=True, rng=rng)
    kept, _ = keep_matched(problem, np.eye(4)[:, :-1], (np.ones(6000), np.ones(6000)))
    assert kept.x.shape[0] <= QUERIES
    corner = np.all(kept.x < kept.x.min(axis=0) + 0.1, axis=1)
    assert np.mean(corner) < 0.05  # half of the points before


def test_few_points_of_uneven_density_are_judged_at_an_even_one_unless_they_are_copies():
    rng = np.random.default_rng(5)

    def sample(grade):
        flat = np.column_stack([rng.uniform(0, 1, 800) ** grade, rng.uniform(0, 1, 800)])
        return np.column_stack([flat, 0.2 * np.sin(5 * flat[:, 0]) * np.cos(4 * flat[:, 1])])

    x, y = sample(2.5), sample(0.4)  # dense at one end, and at the other
    for there, even in ((y, True), (x, False)):
        problem = allow_unmatched(posed(x, there, translate=True), Overlap(), translate=True, rng=rng)
        offset = problem.frame_x.origin - problem.frame_y.origin
        w = np.concatenate([np.eye(3), offset[None]])
        kept, _ = keep_matched(problem, w, (np.ones(800), np.ones(800)))
        dense = kept.x[:, 0] < kept.x[:, 0].min() + 0.1  # a tenth of the surface, with 0.4 of the points
        assert (kept.x.shape[0] < 400) == even
        assert (np.mean(dense) < 0.25) == even
