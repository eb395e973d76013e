"""Swapped matches of few points in many dimensions, on clouds whose answer is known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import invarot
from invarot import Rotations, Schatten, Sinkhorn
from invarot.alignment.improve import swap_matches as swapping
from invarot.alignment.improve.swap_matches import assign, best_swaps, score, swap_gains, swap_matches
from invarot.alignment.problem import add_seeds
from invarot.geometry.orthogonal import polar

from ..clouds import arrays_in, posed, solved, turned, two_swapped


def strength(moment: np.ndarray) -> float:
    return float(np.linalg.svd(moment, compute_uv=False).sum())


@pytest.mark.parametrize(("n", "dx", "dy"), [(20, 20, 20), (30, 12, 12), (20, 12, 8), (20, 8, 12)])
def test_the_gain_of_a_swap_is_that_of_the_nuclear_norm(n, dx, dy):
    rng = np.random.default_rng(n + dx)
    x, y = rng.standard_normal((n, dx)), rng.standard_normal((n, dy))
    y[:, : min(dx, dy)] += 2 * x[:, : min(dx, dy)]
    rows, columns = np.triu_indices(n, 1)
    found = swap_gains(x, y, rows, columns)
    expected = []
    for i, j in zip(rows, columns, strict=True):
        order = np.arange(n)
        order[[i, j]] = j, i
        expected.append(strength(x.T @ y[order]) - strength(x.T @ y))
    assert np.allclose(found, expected, atol=1e-3 * np.abs(expected).max())
    assert np.allclose(swap_gains(1e-120 * x, 1e60 * y, rows, columns), 1e-60 * found, rtol=1e-6, atol=0)
    assert not swap_gains(0 * x, y, rows, columns).any()


def test_two_swapped_matches_are_found_among_all_pairs():
    x, y, truth, swapped = two_swapped()
    np.testing.assert_array_equal(assign(x @ polar(x.T @ y[swapped]) @ y.T), swapped)  # the alternation stays there
    assert score(x, y, truth) > score(x, y, swapped)
    np.testing.assert_array_equal(best_swaps(x, y, swapped), truth)
    assert best_swaps(x, y, truth) is truth  # nothing gains


def test_three_swapped_pairs_are_found_one_after_the_other():
    x, y, _, truth = turned(40, 60, noise=0.2)
    swapped = truth.copy()
    swapped[[0, 1, 2, 3, 4, 5]] = swapped[[1, 0, 3, 2, 5, 4]]
    np.testing.assert_array_equal(best_swaps(x, y, swapped), truth)


def test_a_candidate_comes_back_better_or_not_at_all(lib):
    x, y, truth, swapped = two_swapped()
    problem = posed(lib.array(x), lib.array(y))
    before = solved(problem, lib.array(polar(x.T @ y[swapped])))
    assert not np.array_equal(lib.numpy(before.plan.matches()), truth)
    after = swap_matches(problem, before)
    assert after is not None
    assert after.value > before.value
    assert after.history[-1].stage == "swap"
    np.testing.assert_array_equal(lib.numpy(after.plan.matches()), truth)
    assert swap_matches(problem, after) is None


def test_a_candidate_is_replaced_and_never_changed():
    x, y, _, swapped = two_swapped()
    problem = posed(x, y)
    before = solved(problem, polar(x.T @ y[swapped]))
    kept, posed_as = arrays_in(before), arrays_in(problem)
    assert swap_matches(problem, before) is not None
    for name, array in (*arrays_in(before).items(), *arrays_in(problem).items()):
        np.testing.assert_array_equal(array, {**kept, **posed_as}[name], err_msg=name)


def test_a_swap_that_the_plan_does_not_reward_is_not_taken(monkeypatch):
    """The closed form is of one-to-one matches; what counts is the objective of the plan in the end."""
    x, y, _, swapped = two_swapped()
    problem = posed(x, y)
    before = solved(problem, polar(x.T @ y[swapped]))
    for gain, taken in ((1e-6, True), (-1e-6, False)):
        after = replace(before, value=before.value + gain)
        monkeypatch.setattr(swapping, "continue_from", lambda *_, after=after, **__: after)
        assert (swap_matches(problem, before) is after) == taken
        assert (swap_matches(problem, before) is None) == (not taken)


def test_only_where_the_closed_form_holds():
    """Orthogonal maps, as many equally heavy points, few beside the dimensions, nothing known."""
    x, y, _, swapped = two_swapped()
    plain = posed(x, y)
    candidate = solved(plain, polar(x.T @ y[swapped]))
    heavier = np.arange(1, 51) / np.arange(1, 51).sum()
    for other in (
        posed(x, y, maps=Schatten(2)),
        posed(x, y, maps=Rotations()),
        posed(x, y, solver=Sinkhorn(objective="transport")),
        posed(x, y, a=heavier),
        posed(x, y[:40]),
        posed(x[:, :20], y[:, :20]),
        add_seeds(plain, np.array([(0, int(swapped[0]))]), 1e-9),
    ):
        assert swap_matches(other, candidate) is None
    assert swap_matches(plain, candidate) is not None


@pytest.mark.parametrize("seed", range(3))
def test_auto_ends_with_every_match_right(seed):
    x, y, truth, _ = two_swapped()
    np.testing.assert_array_equal(invarot.align(x, y, rng=seed).matches(), truth)
