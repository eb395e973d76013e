"""A last fit to the points that choose each other."""

import math

import numpy as np
import pytest

import invarot
from invarot.errors import InputError


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
    return invarot.align(x, y), invarot.align(x, y, polish=True)


def test_points_without_a_counterpart_no_longer_bend_the_map(partly_shared, both):
    errors = [np.linalg.norm(one.map - partly_shared[2]) for one in both]
    assert errors[1] < 0.6 * errors[0], errors


def test_the_map_stays_in_the_ball_and_the_plan_is_its_own(partly_shared, both):
    x, _, _ = partly_shared
    plain, polished = both
    np.testing.assert_allclose(polished.map.T @ polished.map, np.eye(3), atol=1e-12)
    np.testing.assert_allclose(polished.plan.z, x @ polished.map, atol=1e-12)
    assert polished.history[-1].marginal_error <= 1e-3
    assert polished.history[-1].stage == "polish"
    assert polished.objective < plain.objective  # it is no longer the optimum
    assert polished.verdict == plain.verdict


@pytest.mark.parametrize("options", [{"p": 3.0}, {"proper": True}, {"plan": "exact", "start": "axes"}, {"scale": True}])
def test_with_other_options(partly_shared, options):
    x, y, _ = partly_shared
    x, y = x[:150], y[:150]
    found = invarot.align(x, y, polish=True, **options)
    spectrum = found.spectrum()
    if options == {"p": 3.0}:
        assert np.sum(spectrum**3) == pytest.approx(3.0)
    else:
        np.testing.assert_allclose(spectrum, spectrum[0])
    if "proper" in options:
        assert np.linalg.det(found.map) == pytest.approx(1)
    assert found.history[-1].stage == "polish"


@pytest.mark.parametrize("size", [0.2, 5.0])
def test_neighbours_do_not_depend_on_the_units(partly_shared, both, size):
    """A map that keeps lengths is found for clouds of other size too, though no verdict can be sure of it."""
    x, y, turn = partly_shared
    found = invarot.align(x, size * y, start=turn, schedule=0.01, polish=True)
    np.testing.assert_allclose(found.map, both[1].map, atol=1e-2)
    assert found.history[-1].stage == "polish"


def test_clouds_of_other_size_dimension_and_weights(lib, partly_shared):
    """Wider and fewer targets, points of no weight, single precision."""
    x, y, turn = partly_shared
    y = np.pad(y[:380], ((0, 0), (0, 2)))
    a = np.where(np.arange(400) < 350, 1 / 350, 0.0)
    plain, found = (
        invarot.align(lib.array(x, "float32"), lib.array(y, "float32"), a=a, polish=polish) for polish in (False, True)
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
    schedule = invarot.Schedule(1.0, 0.5, 0.1, absolute=True)
    found = invarot.align(x, y + 3, translate=True, polish=True, schedule=schedule, start=turn, memory=4_000_000)
    np.testing.assert_allclose(found.offset, y.mean(axis=0) + 3 - x.mean(axis=0) @ found.map, atol=1e-9)
    np.testing.assert_allclose(found.plan.z, (x - x.mean(axis=0)) @ found.map, atol=1e-9)
    assert found.plan.epsilon == pytest.approx(0.1)
    assert found.history[-1].epsilon == 0.1
    assert np.linalg.norm(found.map - turn) < 0.6 * np.linalg.norm(both[0].map - turn)


def test_a_saved_alignment_says_that_it_was_polished(tmp_path, both):
    for one, polish in zip(both, (False, True), strict=True):
        one.save(tmp_path / "a")
        again = invarot.load(tmp_path / "a")
        assert again.settings["polish"] is polish
        np.testing.assert_array_equal(again.map, one.map)


def test_known_pairs_keep_their_say():
    """Of two equally good turns of a symmetric cloud, pairs choose one, before and after."""
    angles = np.arange(40) * (math.pi / 20)
    x = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    pairs = np.stack([np.arange(40), (np.arange(40) + 7) % 40], axis=1)[:3]
    found = invarot.align(x, x, seeds=pairs, start="seeds", polish=True)
    np.testing.assert_allclose((x @ found.map)[:3], x[pairs[:, 1]], atol=1e-6)


def test_known_pairs_of_much_weight_outvote_the_neighbours():
    rng = np.random.default_rng(4)
    x = rng.gamma(2.0, size=(200, 3))
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    y = x @ turn
    y[:8] += 0.7 * rng.normal(size=(8, 3))
    pairs = np.stack([np.arange(8)] * 2, axis=1)
    found = [invarot.align(x, y, seeds=pairs, seed_weight=100.0, start="seeds", polish=one) for one in (False, True)]
    assert found[1].history[-1].stage == "polish"
    np.testing.assert_allclose(found[1].map, found[0].map, atol=5e-3)
    assert np.abs(found[1].map - turn).max() > 0.05


def test_too_few_pairs_leave_the_map_as_it_was():
    rng = np.random.default_rng(2)
    x = rng.gamma(2.0, size=(30, 40))
    y = x[::-1] @ np.linalg.qr(rng.normal(size=(40, 40)))[0]
    plain, polished = (invarot.align(x, y, polish=polish) for polish in (False, True))
    np.testing.assert_array_equal(plain.map, polished.map)
    assert polished.history[-1].stage != "polish"


@pytest.mark.parametrize(("options", "message"), [
    ({"polish": "yes"}, "polish: expected True or False"),
    ({"polish": True, "objective": "transport", "p": 2}, "polish: expected objective='simplified'"),
])  # fmt: skip
def test_bad_options(options, message):
    with pytest.raises(InputError, match=message):
        invarot.align(np.eye(4), np.eye(4), **options)
