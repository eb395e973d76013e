"""Refinement: fixed points, noise, unequal dimensions, small clouds, and every option at work."""

import importlib

import numpy as np
import pytest

from invarot.arrays import unit_rows
from invarot.errors import InputError
from invarot.retrieval import common_space, evaluate, refine
from invarot.retrieval.pairs import choices


def rotation(rng, d):
    return np.linalg.qr(rng.standard_normal((d, d)))[0]


def clouds(rng, n=600, d=8, noise=0.6):
    """Two noisy views of one cloud; the second turned and in another order; a rough map; gold."""
    spread = np.linspace(2, 0.5, d)
    z = rng.standard_normal((n, d)) * spread
    x, y = (z + noise * rng.standard_normal((n, d)) for _ in range(2))
    turn, order = rotation(rng, d), rng.permutation(n)
    start = turn + 0.25 * rng.standard_normal((d, d))
    return x, (y @ turn)[order], start, {int(i): {k} for k, i in enumerate(order)}


def accuracy(x, y, gold):
    return evaluate(x, y, gold, at=(1,)).precision[1]


def test_common_space_of_white_identical_clouds_is_a_rotation_apart():
    rng = np.random.default_rng(0)
    x = np.linalg.qr(rng.standard_normal((400, 5)))[0] * 20
    turn = rotation(rng, 5)
    space = common_space(x, x @ turn, ridge=0.0)
    np.testing.assert_allclose(space.correlations, 1, atol=1e-6)
    np.testing.assert_allclose(x @ space.x_map, x @ turn @ space.y_map, atol=1e-6)


def test_common_space_finds_the_canonical_correlations():
    rng = np.random.default_rng(1)
    rho = np.array([0.9, 0.5, 0.1])
    x = rng.standard_normal((200_000, 3))
    y = rho * x + np.sqrt(1 - rho**2) * rng.standard_normal(x.shape)
    mix = rng.standard_normal((3, 3))
    found = common_space(x @ mix, y @ mix.T)
    np.testing.assert_allclose(found.correlations, rho, atol=0.01)
    white = common_space(x @ mix, y @ mix.T, power=0.0, dewhiten=0.0, ridge=0.0)
    mapped = x @ mix @ white.x_map
    np.testing.assert_allclose(mapped.T @ mapped / len(x), np.eye(3), atol=0.01)


def test_full_dewhitening_gives_the_spread_back():
    rng = np.random.default_rng(2)
    x = rng.standard_normal((500, 4)) * [4, 2, 1, 0.5]
    space = common_space(x, x @ rotation(rng, 4), power=0.0, dewhiten=1.0, ridge=0.0)
    mapped = x @ space.x_map
    np.testing.assert_allclose(np.linalg.eigvalsh(mapped.T @ mapped), np.linalg.eigvalsh(x.T @ x), rtol=1e-6)


def test_weights_drop_wrong_pairs():
    rng = np.random.default_rng(3)
    x = rng.standard_normal((300, 4))
    y = x @ rotation(rng, 4)
    wrong = np.concatenate([y[:200], rng.permutation(y[200:])])
    trust = np.where(np.arange(300) < 200, 1.0, 0.0)
    assert common_space(x, wrong, trust, ridge=0.0).correlations.min() > 0.999
    assert common_space(x, wrong, ridge=0.0).correlations.min() < 0.9


def test_an_exact_start_is_a_fixed_point(lib):
    rng = np.random.default_rng(4)
    x = rng.standard_normal((300, 6))
    turn = rotation(rng, 6)
    found = refine(lib.array(x), lib.array(x @ turn), lib.array(turn))
    assert found.status == "settled"
    assert [r.pairs for r in found.history] == [300, 300]
    assert found.history[-1].changed == 0
    np.testing.assert_array_equal(lib.numpy(found.pairs[0]), lib.numpy(found.pairs[1]))
    assert lib.owns(found.x_map)


def test_refinement_improves_a_rough_map(lib):
    x, y, start, gold = clouds(np.random.default_rng(5))
    found = refine(lib.array(x), lib.array(y), lib.array(start))
    before, after = accuracy(x @ start, y, gold), accuracy(x @ lib.numpy(found.x_map), y @ lib.numpy(found.y_map), gold)
    assert after > before + 0.05
    assert accuracy(x @ lib.numpy(found.map), y, gold) > before
    assert np.linalg.norm(lib.numpy(found.map)) == pytest.approx(8**0.5)
    again = refine(lib.array(x), lib.array(y), lib.array(start))
    np.testing.assert_array_equal(lib.numpy(found.x_map), lib.numpy(again.x_map))


def test_float32_stays_float32(lib):
    x, y, start, _ = clouds(np.random.default_rng(6))
    found = refine(*(lib.array(z, "float32") for z in (x, y, start)))
    assert str(found.x_map.dtype).endswith("float32")
    assert str(found.correlations.dtype).endswith("float32")


def test_unequal_dimensions_and_sizes():
    rng = np.random.default_rng(7)
    z = rng.standard_normal((500, 4))
    lift = np.linalg.qr(rng.standard_normal((7, 4)))[0].T
    x = z @ lift + 0.05 * rng.standard_normal((500, 7))
    found = refine(x, z[:400], lift.T)
    assert found.x_map.shape == (7, 4)
    assert found.y_map.shape == (4, 4)
    assert accuracy(x @ found.x_map, z[:400] @ found.y_map, {i: {i} for i in range(400)}) > 0.9


def test_too_few_pairs_leave_the_map_alone():
    rng = np.random.default_rng(8)
    x = rng.standard_normal((50, 120))
    turn = rotation(rng, 120)
    found = refine(x, x @ turn, turn)
    assert (found.status, found.history) == ("few pairs", ())
    np.testing.assert_array_equal(found.x_map, turn)
    np.testing.assert_array_equal(found.y_map, np.eye(120))
    assert refine(x, x @ turn, turn, min_pairs=0.1).status == "settled"


def test_no_rounds_is_the_start():
    x, y, start, _ = clouds(np.random.default_rng(9))
    found = refine(x, y, start, rounds=0)
    np.testing.assert_array_equal(found.x_map, start)
    assert found.status == "rounds"


def test_progress_sees_each_round():
    x, y, start, _ = clouds(np.random.default_rng(10))
    seen = []
    found = refine(x, y, start, rounds=3, tol=0.0, progress=seen.append)
    assert tuple(seen) == found.history
    assert len(seen) == 3
    assert found.status == "rounds"
    assert seen[-1].changed < seen[0].changed == 1


def test_watch_is_asked_about_the_maps_of_each_round():
    x, y, start, gold = clouds(np.random.default_rng(10))
    found = refine(x, y, start, watch=lambda one, other: accuracy(x @ one, y @ other, gold))
    assert found.history[-1].watched == accuracy(x @ found.x_map, y @ found.y_map, gold) > 0.1
    assert refine(x, y, start).history[-1].watched is None


def test_a_refinement_goes_on_from_the_maps_of_another():
    x, y, start, _ = clouds(np.random.default_rng(12))
    whole = refine(x, y, start, rounds=4, tol=0.0)
    first = refine(x, y, start, rounds=2, tol=0.0)
    rest = refine(x, y, (first.x_map, first.y_map), rounds=2, tol=0.0)
    np.testing.assert_array_equal(rest.x_map, whole.x_map)
    with pytest.raises(InputError, match=r"start: expected maps of x and of y into one space.*\(8, 8\) and \(8, 3\)"):
        refine(x, y, (first.x_map, first.y_map[:, :3]))


@pytest.mark.parametrize(
    "option",
    [{"weight": "uniform"}, {"power": 0.5}, {"dewhiten": 1.0}, {"ridge": 20.0}, {"csls_k": 2},
     {"rounds": 1}, {"tol": 0.9}, {"loose": 0.5}],
)  # fmt: skip
def test_every_option_changes_the_outcome(option):
    x, y, start, _ = clouds(np.random.default_rng(11))
    usual, other = refine(x, y, start), refine(x, y, start, **option)
    assert np.abs(usual.x_map - other.x_map).max() > 1e-6


def test_the_last_fit_takes_the_choices_of_either_side(lib):
    x, y, start, _ = (
        lib.array(one) if isinstance(one, np.ndarray) else one for one in clouds(np.random.default_rng(14))
    )
    plain, more = (refine(x, y, start, loose=loose) for loose in (0.0, 0.5))
    i, j, score, mutual = map(lib.numpy, choices(x @ plain.x_map, y @ plain.y_map))
    weights = np.where(mutual, 1, 0.5) * (np.argsort(np.argsort(score)) + 1)
    expected = common_space(lib.numpy(x)[i], lib.numpy(y)[j], weights)
    np.testing.assert_allclose(lib.numpy(more.x_map), expected.x_map, atol=1e-8)
    assert len(more.history) == len(plain.history) + 1
    assert more.history[-1].pairs == len(more.pairs[0]) == mutual.sum() < len(i)


def test_points_that_cannot_be_relied_on_weigh_less(lib):
    """Half of the points carry three times the noise: who says so gets the better map."""
    rng = np.random.default_rng(13)
    x, y, start, gold = clouds(rng, noise=0.3)
    partner = {j: i for i, right in gold.items() for j in right}
    bad = rng.random(len(x)) < 0.5
    x, bad_y = x + 0.9 * bad[:, None] * rng.standard_normal(x.shape), np.array([bad[partner[j]] for j in range(len(y))])
    trust = tuple(lib.array(np.where(one, 0.2, 1.0)) for one in (bad, bad_y))
    i, j = np.array([(i, next(iter(right))) for i, right in gold.items() if not bad[i]]).T
    scores = []
    for given in (None, trust):
        found = refine(lib.array(x), lib.array(y), lib.array(start), trust=given)
        left, right = unit_rows(x @ lib.numpy(found.x_map))[i], unit_rows(y @ lib.numpy(found.y_map))[j]
        scores.append((left * right).sum(axis=1).mean())
    assert scores[1] > scores[0]
    with pytest.raises(InputError, match="trust: expected one number per point, 600 and 600"):
        refine(lib.array(x), lib.array(y), lib.array(start), trust=(trust[0][:5], trust[1]))


def test_bad_input_is_named():
    x = np.eye(4)
    with pytest.raises(InputError, match=r"start: expected a map of shape \(4, 4\).*\(4, 3\)"):
        refine(x, x, x[:, :3])
    with pytest.raises(InputError, match=r"weight: .*'ranks'.*did you mean 'rank'"):
        refine(x, x, x, weight="ranks")
    with pytest.raises(InputError, match="dewhiten"):
        refine(x, x, x, dewhiten=2.0)


@pytest.mark.parametrize(("losing", "status"), [(2, "rounds"), (3, "lost pairs")])
def test_the_first_round_may_lose_more_pairs_than_later_ones(monkeypatch, losing, status):
    """It leaves an orthogonal map for a re-weighted space: 15 % fewer mutual pairs there is no sign of going astray."""
    module = importlib.import_module("invarot.retrieval.refine")
    x = np.random.default_rng(0).normal(size=(300, 8))
    calls = []

    def fewer(*points, **options):
        i, j, score = matches(*points, **options)
        calls.append(1)
        keep = int(0.85 * len(i)) if len(calls) >= losing else len(i)
        return i[:keep], j[:keep], score[:keep]

    matches = module.matches
    monkeypatch.setattr(module, "matches", fewer)
    signs = np.diag([1.0, -1.0] * 4)
    assert module.refine(x, x @ signs, signs, tol=0, rounds=3).status == status
