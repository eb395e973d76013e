"""The search: groups of cells, exchanges, and the agreement that chooses between them."""

from __future__ import annotations

import numpy as np
import pytest

from invarot.cells.agreement import compare_kernels, describe_side, diffuse, fit_view, score_plan, share_directions
from invarot.cells.alternation import couple, fit_plans
from invarot.cells.coarse import Groups, group_cells, merge_groups, share_out
from invarot.cells.search import (
    Choice,
    exchange_parts,
    keep_distinct_plans,
    pair_groups,
    propose_plans,
    refer_to_groups,
    try_exchanges,
)


def cloud(n=60, seed=0):
    rng = np.random.default_rng(seed)
    return rng.gamma(1.0, size=(n, 3)) * [3.0, 2.0, 1.0]


def turn(seed=1):
    return np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))[0]


def test_groups_are_means_of_their_cells():
    x = cloud(200)
    found = group_cells({"linear": x, "half": x / 2}, 20, np.random.default_rng(0))
    assert found.weights.sum() == pytest.approx(1)
    assert len(found.weights) == found.label.max() + 1 <= 20
    first = found.label == 0
    assert np.allclose(found.views["linear"][0], x[first].mean(0))
    assert np.allclose(found.views["half"], found.views["linear"] / 2)


def test_few_cells_are_their_own_groups():
    x = cloud(10)
    found = group_cells({"linear": x}, 20, np.random.default_rng(0))
    assert found.views["linear"] is x
    assert np.array_equal(found.label, np.arange(10))


def test_larger_groups_keep_weights_and_means():
    x = cloud(200)
    fine = group_cells({"linear": x}, 40, np.random.default_rng(0))
    found, part = merge_groups(fine, 8, np.random.default_rng(0))
    assert len(found.weights) == part.max() + 1 <= 8
    assert np.allclose(found.weights, np.bincount(found.label) / 200)
    assert np.allclose(found.views["linear"][0], x[found.label == 0].mean(0))
    assert np.allclose(np.bincount(part, share_out(fine.weights, part)), 1)


def test_weights_of_cells_count():
    x = cloud(200)
    weights = np.where(np.arange(200) < 100, 3.0, 1.0) / 400
    found = group_cells({"linear": x}, 5, np.random.default_rng(0), weights)
    assert np.allclose(found.weights, np.bincount(found.label, weights))


def test_the_marginals_are_kept_and_may_differ_from_plan_to_plan():
    rng = np.random.default_rng(0)
    a, b = rng.dirichlet(np.ones(8), size=2), rng.dirichlet(np.ones(6))
    cost, g = rng.random((2, 8, 6)).astype(np.float32), np.zeros((2, 6), np.float32)
    for _ in range(6):
        plans, g = couple(cost, a, b, 0.2, g)
    assert np.abs(plans.sum(2) - a).max() < 1e-4
    assert np.abs(plans.sum(1) - b).max() < 1e-5


def test_two_clusters_far_apart_do_not_overflow():
    cost = np.full((1, 4, 4), 400.0, np.float32)
    cost[0, :2, :2] = cost[0, 2:, 2:] = 0
    plans, _ = couple(cost, np.full(4, 0.25), np.full(4, 0.25), 0.05, np.zeros((1, 4), np.float32))
    assert np.isfinite(plans).all()
    assert plans[0, :2, :2].sum() == pytest.approx(0.5, abs=1e-4)


def test_the_alternation_finds_a_rotation_from_a_rough_plan():
    x = cloud()
    views = {"linear": x}, {"linear": 5 + 2 * x @ turn()}
    weights = np.full(60, 1 / 60)
    rough = np.exp(-((x[:, None, 0] - x[None, :, 0]) ** 2))[None].astype(np.float32)
    plans = fit_plans(*views, weights, weights, rough / rough.sum(), epsilons=(0.3, 0.2, 0.1, 0.05, 0.02, 0.01))
    assert np.mean(plans[0].argmax(1) == np.arange(60)) > 0.9


def test_the_right_plan_agrees_in_full_and_beats_a_shuffled_one():
    x = cloud()
    weights = np.full(60, 1 / 60)
    sides = describe_side({"linear": x}, weights), describe_side({"linear": 3 * x @ turn() - 1}, weights)
    right = np.eye(60) / 60
    wrong = right[np.random.default_rng(0).permutation(60)]
    assert score_plan(*sides, right) == pytest.approx(1, abs=1e-6)
    assert score_plan(*sides, wrong) < 0.5


def test_each_part_sees_what_it_should():
    x, plan = cloud(), np.eye(60) / 60
    stretched = x * [1.0, 3.0, 0.2]
    assert fit_view(x, x @ turn(), plan) == pytest.approx(1)
    assert fit_view(x, stretched, plan) < 0.95
    assert share_directions(x, stretched, plan) == pytest.approx(1)
    kernel = diffuse(x, np.full(60, 1 / 60))
    assert compare_kernels(kernel, kernel, plan) == pytest.approx(1)
    assert compare_kernels(kernel, diffuse(7 * x + 2, np.full(60, 1 / 60)), plan) == pytest.approx(1)


def test_plans_that_are_alike_are_kept_once():
    one, other = np.eye(4) / 4, np.eye(4)[::-1] / 4
    found = [Choice(0.5, other), Choice(0.9, one), Choice(0.8, one * 0.99 + 0.000625)]
    assert [choice.agreement for choice in keep_distinct_plans(found)] == [0.9, 0.5]


def islands(seed=0, n=160, without=()):
    """Two assays of five clusters, the second turned; their types."""
    rng = np.random.default_rng(seed)
    centres = 4 * np.array([[0, 0, 0], [2, 0, 0], [0, 3, 0], [1, 1, 4.0], [-2, -1, 1]])
    types = rng.choice(5, n, p=[0.35, 0.25, 0.2, 0.12, 0.08])
    x = centres[types] + rng.normal(size=(n, 3)) * [0.8, 0.5, 0.3]
    kept = ~np.isin(types, without)
    return {"linear": x}, {"linear": (x @ turn() + 0.05 * rng.normal(size=(n, 3)))[kept]}, types, types[kept]


def accuracy(plan, left, right, types, others):
    """The share of cells whose group is matched with its own type."""
    seen = np.stack([np.bincount(right.label, others == k, len(right.weights)) for k in range(5)], axis=1)
    best = (plan @ (seen / seen.sum(1, keepdims=True))).argmax(1)[left.label]
    return (best == types).mean()


def test_random_starts_on_few_groups_find_islands():
    x, y, types, others = islands()
    rng = np.random.default_rng(0)
    pair = pair_groups(group_cells(x, 40, rng), group_cells(y, 40, rng))
    found = pair.solve(propose_plans(pair, rng), (0.1,))
    assert accuracy(found[0].plan, pair.left, pair.right, types, others) > 0.95


def test_an_exchange_mends_two_types_in_each_others_place():
    x, y, types, others = islands()
    rng = np.random.default_rng(0)
    pair = pair_groups(group_cells(x, 30, rng), group_cells(y, 30, rng))
    wrong = np.array([0, 1, 2, 4, 3])[others]
    seen = [np.stack([np.bincount(g.label, t == k, len(g.weights)) for k in range(5)], axis=1)
            for g, t in ((pair.left, types), (pair.right, wrong))]  # fmt: skip
    start = seen[0] @ seen[1].T + 1e-3
    before = pair.solve([start / start.sum()], (0.05,))
    assert accuracy(before[0].plan, pair.left, pair.right, types, others) < 0.9
    after = try_exchanges(pair, before, rng)
    assert accuracy(after[0].plan, pair.left, pair.right, types, others) > 0.95
    assert after[0].agreement > before[0].agreement


def test_exchanges_move_mass_and_keep_it():
    x, y, *_ = islands()
    rng = np.random.default_rng(0)
    left, right = group_cells(x, 12, rng), group_cells(y, 12, rng)
    plan = np.outer(left.weights, right.weights)
    found = list(exchange_parts(plan, left, right, rng))
    assert len(found) == 2 * 45
    assert all(one.sum() == pytest.approx(1) for one in found)


def test_a_plan_between_cells_becomes_one_between_groups():
    left = Groups({}, np.array([0.5, 0.5]), np.array([0, 0, 1, 1]))
    right = Groups({}, np.array([0.5, 0.5]), np.array([0, 1]))
    plan = refer_to_groups(np.array([[0.5, 0.0], [0.0, 0.5]]), np.array([0, 2]), np.array([0, 1]), left, right)
    assert plan.sum() == pytest.approx(1)
    assert plan[0, 0] == plan[1, 1] > 0.45
    assert (plan > 0).all()
