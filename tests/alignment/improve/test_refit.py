"""A last fit to the points that choose each other."""

import math

import numpy as np
import pytest

import invarot
from invarot import Exact, Rotations, Schatten, Schedule, Search, Sinkhorn
from invarot.alignment.improve.refit import fit_to_neighbours, refit

from ..clouds import arrays_in, posed, solved, turned

REFIT = Sinkhorn(refit=True)


@pytest.fixture(scope="module")
def partly_shared():
    """Two clouds that share three quarters of their points, a little noise, and the turn between them."""
    rng = np.random.default_rng(0)
    x = rng.gamma(2.0, size=(400, 3))
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    y = np.vstack([x[:300] @ turn + 0.05 * rng.normal(size=(300, 3)), rng.gamma(2.0, size=(100, 3)) @ turn])
    return x, y[rng.permutation(400)], turn


@pytest.fixture(scope="module")
def both(partly_shared):
    x, y, _ = partly_shared
    return invarot.align(x, y), invarot.align(x, y, solver=REFIT)


def test_points_without_a_counterpart_no_longer_bend_the_map(partly_shared, both):
    errors = [np.linalg.norm(one.map - partly_shared[2]) for one in both]
    assert errors[1] < 0.6 * errors[0], errors


def test_the_map_stays_in_the_ball_and_the_plan_is_its_own(partly_shared, both):
    x, _, _ = partly_shared
    plain, refitted = both
    np.testing.assert_allclose(refitted.map.T @ refitted.map, np.eye(3), atol=1e-12)
    np.testing.assert_allclose(refitted.plan.z, x @ refitted.map, atol=1e-12)
    assert refitted.history[-1].marginal_error <= 1e-3
    assert refitted.history[-1].stage == "refit"
    assert refitted.objective < plain.objective  # it is no longer the optimum
    assert refitted.verdict.word == plain.verdict.word == "aligned"


@pytest.mark.parametrize(
    "options",
    [{"p": 3.0}, {"p": Rotations()}, {"solver": Exact(refit=True), "start": "axes"}, {"scale": True},
     {"p": Schatten(radius=2.0)}],
)  # fmt: skip
def test_with_other_options(partly_shared, options):
    x, y, _ = partly_shared
    x, y = x[:150], y[:150]
    found = invarot.align(x, y, **{"solver": REFIT, **options})
    spectrum = found.spectrum()
    if options == {"p": 3.0}:
        assert np.sum(spectrum**3) == pytest.approx(3.0)
    else:
        np.testing.assert_allclose(spectrum, spectrum[0])
    if options == {"p": Rotations()}:
        assert np.linalg.det(found.map) == pytest.approx(1)
    assert found.history[-1].stage == "refit"


@pytest.mark.parametrize("size", [0.2, 5.0])
def test_neighbours_do_not_depend_on_the_units(partly_shared, both, size):
    """A map that keeps lengths is found for clouds of other size too, though no verdict can be sure of it."""
    x, y, turn = partly_shared
    found = invarot.align(x, size * y, start=turn, solver=Sinkhorn(schedule=0.01, refit=True))
    np.testing.assert_allclose(found.map, both[1].map, atol=1e-2)
    assert found.history[-1].stage == "refit"


def test_clouds_of_other_size_dimension_and_weights(lib, partly_shared):
    """Wider and fewer targets, points of no weight, single precision."""
    x, y, turn = partly_shared
    y = np.pad(y[:380], ((0, 0), (0, 2)))
    a = np.where(np.arange(400) < 350, 1 / 350, 0.0)
    plain, found = (
        invarot.align(lib.array(x, "float32"), lib.array(y, "float32"), a=a, solver=solver) for solver in (None, REFIT)
    )
    assert lib.owns(found.map)
    errors = [np.linalg.norm(lib.numpy(one.map) - np.pad(turn, ((0, 0), (0, 2)))) for one in (plain, found)]
    assert errors[1] < 0.6 * errors[0], errors
    dense = lib.numpy(found.plan.dense())
    assert np.abs(dense.sum(axis=1) - a).sum() < 2e-3
    assert not dense[350:].any()


def test_frames_schedules_and_memory(partly_shared, both):
    """Offset and plan belong to the new map; the plan is at the epsilon at which the solve ended."""
    x, y, turn = partly_shared
    solver = Sinkhorn(schedule=Schedule(1.0, 0.5, 0.1, absolute=True), refit=True, memory=4_000_000)
    found = invarot.align(x, y + 3, translate=True, start=turn, solver=solver)
    np.testing.assert_allclose(found.offset, y.mean(axis=0) + 3 - x.mean(axis=0) @ found.map, atol=1e-9)
    np.testing.assert_allclose(found.plan.z, (x - x.mean(axis=0)) @ found.map, atol=1e-9)
    assert found.plan.epsilon == pytest.approx(0.1)
    assert found.history[-1].epsilon == 0.1
    assert np.linalg.norm(found.map - turn) < 0.6 * np.linalg.norm(both[0].map - turn)


def test_known_pairs_keep_their_say():
    """Of two equally good turns of a symmetric cloud, pairs choose one, before and after."""
    angles = np.arange(40) * (math.pi / 20)
    x = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    pairs = np.stack([np.arange(40), (np.arange(40) + 7) % 40], axis=1)[:3]
    found = invarot.align(x, x, seeds=pairs, start="seeds", solver=REFIT)
    np.testing.assert_allclose((x @ found.map)[:3], x[pairs[:, 1]], atol=1e-6)


def test_known_pairs_of_much_weight_outvote_the_neighbours():
    rng = np.random.default_rng(4)
    x = rng.gamma(2.0, size=(200, 3))
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    y = x @ turn
    y[:8] += 0.7 * rng.normal(size=(8, 3))
    pairs = np.stack([np.arange(8)] * 2, axis=1)
    options = {"seeds": pairs, "start": "seeds", "search": Search(seed_weight=100.0)}
    found = [invarot.align(x, y, solver=solver, **options) for solver in (None, REFIT)]
    assert found[1].history[-1].stage == "refit"
    np.testing.assert_allclose(found[1].map, found[0].map, atol=5e-3)
    assert np.abs(found[1].map - turn).max() > 0.05


def test_too_few_pairs_leave_the_map_as_it_was_and_a_note():
    x, y, _, _ = turned(30, 40)
    plain, refitted = (invarot.align(x, y, solver=solver) for solver in (None, REFIT))
    np.testing.assert_array_equal(plain.map, refitted.map)
    assert refitted.history[-1].stage != "refit"
    assert refitted.notes == ("refit: no effect, since mutual neighbours are fewer than two per dimension",)
    assert plain.notes == ()


def test_an_improver_gives_a_candidate_or_none_and_changes_none():
    x, y, turn, _ = turned(80, 3, noise=0.3)
    problem = posed(x, y, solver=Sinkhorn(schedule=0.02))
    before = solved(problem, turn)
    kept = arrays_in(before)
    after = refit(problem, before)
    assert after is not None
    assert after.epsilon == before.epsilon
    np.testing.assert_allclose(after.map, fit_to_neighbours(problem, before.map))
    assert not np.allclose(after.map, before.map, atol=1e-6)
    for name, array in arrays_in(before).items():
        np.testing.assert_array_equal(array, kept[name], err_msg=name)
    few = posed(x[:5], y[:5])
    assert refit(few, solved(few, turn)) is None
    assert fit_to_neighbours(few, turn) is None
