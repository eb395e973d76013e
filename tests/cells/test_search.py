"""The search: groups of cells, plans with relaxed marginals, and the agreement that chooses between them."""

from __future__ import annotations

import numpy as np
import pytest

from invarot.cells.agreement import compare_kernels, describe_side, diffuse, fit_view, score_plan, share_directions
from invarot.cells.coarse import group_cells
from invarot.cells.relaxed import alternate, couple
from invarot.cells.search import keep_distinct


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


def test_without_slack_the_marginals_are_kept():
    rng = np.random.default_rng(0)
    a, b = rng.dirichlet(np.ones(8)), rng.dirichlet(np.ones(6))
    cost, g = rng.random((2, 8, 6)).astype(np.float32), np.zeros((2, 6), np.float32)
    for _ in range(6):
        plans, g = couple(cost, a, b, 0.2, g, np.inf)
    assert np.abs(plans.sum(2) - a).max() < 1e-4
    assert np.abs(plans.sum(1) - b).max() < 1e-5


def test_with_slack_a_far_point_is_given_up_and_the_mass_is_one():
    cost = np.zeros((1, 4, 3), np.float32)
    cost[:, 3] = 9.0
    weights = np.full(4, 0.25), np.full(3, 1 / 3)
    plans, g = couple(cost, *weights, 0.1, np.zeros((1, 3), np.float32), 0.3)
    for _ in range(5):
        plans, g = couple(cost, *weights, 0.1, g, 0.3)
    assert plans.sum() == pytest.approx(1, abs=1e-5)
    assert plans[0, 3].sum() < 0.01
    kept, _ = couple(cost, *weights, 0.1, np.zeros((1, 3), np.float32), np.inf)
    assert kept[0, 3].sum() == pytest.approx(0.25, abs=1e-3)


def test_two_clusters_far_apart_do_not_overflow():
    cost = np.full((1, 4, 4), 400.0, np.float32)
    cost[0, :2, :2] = cost[0, 2:, 2:] = 0
    plans, _ = couple(cost, np.full(4, 0.25), np.full(4, 0.25), 0.05, np.zeros((1, 4), np.float32), np.inf)
    assert np.isfinite(plans).all()
    assert plans[0, :2, :2].sum() == pytest.approx(0.5, abs=1e-4)


def test_the_alternation_finds_a_rotation_from_a_rough_plan():
    x = cloud()
    views = {"linear": x}, {"linear": 5 + 2 * x @ turn()}
    weights = np.full(60, 1 / 60)
    rough = np.exp(-((x[:, None, 0] - x[None, :, 0]) ** 2))[None].astype(np.float32)
    plans = alternate(
        *views, weights, weights, rough / rough.sum(), slack=np.inf, epsilons=(0.3, 0.2, 0.1, 0.05, 0.02, 0.01)
    )
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
    one, other = np.eye(4)[None] / 4, np.eye(4)[None, ::-1] / 4
    assert keep_distinct(np.concatenate([one, one * 0.99 + 0.000625, other]), np.array([0, 1, 2])) == [0, 2]
