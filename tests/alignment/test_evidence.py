"""The evidence for a map: what maps make of points that took no part in fitting them."""

from __future__ import annotations

import numpy as np
import pytest

import invarot
from invarot import Rotations, Schatten
from invarot.alignment.evidence import effective_dimensions, gather_evidence, hold_out
from invarot.alignment.judging.judge import measure
from invarot.alignment.judging.rule import is_copy
from invarot.geometry.orthogonal import polar

from .clouds import posed, random_turn, turned


def sheet(n, d, rng):
    flat = rng.uniform(size=(n, 2))
    return flat @ rng.standard_normal((2, d)) + np.sin(flat @ rng.uniform(1, 5, (2, d)))


def test_held_out_points_know_a_right_map_from_one_that_fits(lib):
    """A map in forty dimensions that was fitted to a wrong matching of sixty points: it does not hold for the others."""
    x, y, turn, _ = turned(60, 40)
    problem, some = posed(lib.array(x), lib.array(y)), lib.array(np.arange(60))
    right = hold_out(problem, lib.array(turn), some)
    assert right.split == 1.0
    assert right.gap < 1e-9 * right.spacing
    assert right.twins == pytest.approx(1)
    wrong = polar(x.T @ y[np.random.default_rng(0).permutation(60)])
    fitted = hold_out(problem, lib.array(wrong), some)
    assert fitted.split < 0.3
    assert fitted.twins < 0


def test_fewer_points_than_dimensions_are_compared_in_the_directions_they_know():
    """Twenty points in fifty dimensions, copied: the map of fifteen of them says nothing of the other directions."""
    x, y, turn, _ = turned(20, 50)
    assert hold_out(posed(x, y), turn, np.arange(20)).split > 0.9


@pytest.mark.parametrize("maps", [Schatten(), Schatten(2.0), Rotations()])
def test_every_family_fits_its_own_maps(maps):
    """Held-out points are carried by a map of the family: rotations do not use a mirror, a ball of p=2 may shrink."""
    rng = np.random.default_rng(3)
    x = rng.gamma(2.0, size=(100, 3))
    turn = random_turn(3, rng)
    turn[:, 0] *= np.sign(np.linalg.det(turn))
    found = hold_out(posed(x, x @ turn, maps=maps), turn, np.arange(100))
    assert (found.split == 1.0) == (not isinstance(maps, Schatten) or maps.p > 2)
    mirrored = posed(x, x @ turn * [1, 1, -1], maps=maps)
    gap = hold_out(mirrored, turn * [1, 1, -1], np.arange(100)).gap
    assert (gap < 1e-9) == (maps == Schatten())


def test_a_null_is_asked_for_less():
    x, y, turn, _ = turned(60, 3)
    full, null = (hold_out(posed(x, y), turn, np.arange(60), null=flag) for flag in (False, True))
    assert (null.split, null.gap) == (full.split, full.gap)
    assert null.spacing == 0
    assert null.twins == 0


def test_tiny_clouds_are_no_evidence():
    for n, d in ((2, 1), (3, 3), (4, 2)):
        x, y, turn, _ = turned(n, d)
        found = measure(posed(x, y), turn, np.random.default_rng(0))
        assert np.isfinite([found.split, found.twins, found.shape, found.crowding]).all()
        assert found.points == n
    constant = posed(np.ones((6, 2)), np.ones((6, 2)))
    found = gather_evidence(constant, np.eye(2), np.random.default_rng(0))
    assert found.twins == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize(("n", "d"), [(200, 10), (400, 3)])
def test_what_unseen_points_say_of_copies_of_samples_and_of_strangers(lib, n, d):
    """Copies lie on their targets; two samples of one shape as near as neighbours; strangers farther off."""
    rng = np.random.default_rng(0)
    x, y, turn, _ = turned(n, d, noise=0.1)
    centre = x.mean(0)
    other, stranger = (rng.gamma(2.0, size=(n, d)) - 2) @ turn, 2**0.5 * rng.standard_normal((n, d))
    copy, sample, unrelated = (
        gather_evidence(posed(lib.array(x - centre), lib.array(target)), lib.array(turn), np.random.default_rng(1))
        for target in (y - centre @ turn, other, stranger)
    )
    assert copy.points == n
    assert copy.split > 0.99
    assert copy.twins > 0.9 > 0.3 > sample.twins > unrelated.twins
    assert is_copy(copy)
    assert not is_copy(sample)
    assert not is_copy(unrelated)


def test_same_rng_same_evidence():
    x, y, turn, _ = turned(100, 3, noise=0.5)
    problem = posed(x, y)
    one, same, other = (gather_evidence(problem, turn, np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert one == same
    assert one != other


def test_dimensions_are_counted_by_their_spread(lib):
    rng = np.random.default_rng(0)
    even = lib.array(np.full(2000, 1 / 2000))
    assert effective_dimensions(lib.array(rng.standard_normal((2000, 5))), even) == pytest.approx(5, rel=0.02)
    flat = rng.standard_normal((2000, 5)) * [1, 0, 0, 0, 0]
    assert effective_dimensions(lib.array(flat), even) == pytest.approx(1, rel=1e-3)


@pytest.mark.parametrize("far", [999.0, -9999.0])
def test_one_point_far_off_does_not_speak_for_all(far):
    rng = np.random.default_rng(0)
    x = rng.gamma(2.0, size=(500, 10))
    x[0] = far
    turn, order = random_turn(10, rng), rng.permutation(500)
    y = (x @ turn)[order] + 0.05 * rng.normal(size=(500, 10))
    result = invarot.align(x, y, translate=True)
    right = np.mean(result.matches("nearest") == np.argsort(order))
    assert right > 0.9 or result.verdict.word == "failed"
    assert any("far off" in reason for reason in result.verdict.reasons)
