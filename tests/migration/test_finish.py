"""The last fit: a map for retrieval, from the moment of a plan."""

import numpy as np

from invarot.geometry.orthogonal import polar
from invarot.migration.finish import fit_retrieval_map, refit_moment

RNG = np.random.default_rng(0)
TURN = np.linalg.qr(RNG.normal(size=(6, 6)))[0][:4].astype(np.float32)


def test_models_that_agree_give_a_rotation():
    x = (RNG.normal(size=(4000, 4)) * (2, 1, 0.5, 0.3)).astype(np.float32)
    y = x @ TURN
    np.testing.assert_allclose(fit_retrieval_map(x.T @ y / len(x), x, y), TURN, atol=0.02)


def test_a_direction_weighs_as_much_as_the_models_agree_on_it():
    x = RNG.normal(size=(4000, 4))
    y = x.copy()
    y[:, 3] = 0.25 * x[:, 3] + np.sqrt(1 - 0.25**2) * RNG.normal(size=4000)  # a correlation of a quarter
    found = fit_retrieval_map(x.T @ y / len(x), x, y)
    assert 0.45 < found[3, 3] / found[0, 0] < 0.55


def test_the_moment_is_that_of_a_plan_of_all_rows():
    x = RNG.gamma(0.5, size=(300, 4)).astype(np.float32)
    y = (x @ TURN)[RNG.permutation(300)]
    moment = refit_moment(x, y, TURN, 0.01)
    np.testing.assert_allclose(polar(moment), TURN, atol=0.05)
    assert 0.9 < np.sum(moment * TURN) / np.mean(np.sum(x**2, axis=1)) < 1.0  # blurred by epsilon
    known = refit_moment(np.concatenate([x[:5], x]), np.concatenate([(x @ TURN)[:5], y]), TURN, 0.01, pairs=5)
    pairs = x[:5].T @ (x @ TURN)[:5] / 305  # each weighs as much as a point
    unknown = refit_moment(np.concatenate([x[:5], x]), np.concatenate([(x @ TURN)[:5], y]), TURN, 0.01)
    np.testing.assert_allclose(known - unknown, pairs, atol=0.1 * np.abs(pairs).max())
