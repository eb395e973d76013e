"""The choice among rigid motions, and the rivals that a shape invites."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import invarot
from invarot.alignment.search.clouds import Clouds
from invarot.alignment.search.motions import (
    choose_best,
    choose_motion,
    compare,
    count_errors,
    keep_distinct,
    propose_rivals,
    slip_away,
)

TURN = Rotation.from_rotvec([0.4, -0.9, 0.3]).as_matrix()
OFFSET = np.asarray([1.0, -2.0, 0.5])
TRUTH = np.concatenate([TURN, OFFSET[None]])


def pot(n, seed, *, handle=0.3):
    """A sample of a body of revolution about the third axis, a share of the points on a handle."""
    rng = np.random.default_rng(seed)
    turn, height = rng.uniform(0, 2 * np.pi, n), rng.uniform(-1, 1, n)
    radius = 0.6 + 0.2 * np.sin(2 * height) + 0.1 * height
    body = np.stack([radius * np.cos(turn), radius * np.sin(turn), height], axis=1)
    bent, around = rng.uniform(-1.3, 1.3, n), rng.uniform(0, 2 * np.pi, n)
    ring = np.stack([0.6 + 0.5 * np.cos(bent) + 0.1 * np.cos(around), 0.1 * np.sin(around), 0.5 * np.sin(bent)], axis=1)
    return np.where((np.arange(n) < handle * n)[:, None], ring, body)


def about(angle):
    """The right map after a turn about the axis of the pot."""
    return np.concatenate([Rotation.from_rotvec([0, 0, angle]).as_matrix() @ TURN, OFFSET[None]])


def angle(w):
    return float(np.degrees(Rotation.from_matrix(TURN.T @ w[:-1]).magnitude()))


def test_a_pot_that_is_turned_about_its_axis_is_turned_back():
    x, y = pot(300, 0), pot(300, 1) @ TURN + OFFSET
    for begun in (0.3, np.pi):
        found = choose_motion(x, y, about(begun)[None], proper=True)
        assert angle(found.map) < 5
        assert found.score > 0.6
        assert not found.rivals


def test_a_start_that_was_asked_for_stays_and_has_a_rival():
    x, y = pot(300, 2), pot(300, 3) @ TURN + OFFSET
    found = choose_motion(x, y, about(np.pi)[None], proper=True, stay=True)
    assert angle(found.map) > 90
    assert min(angle(w) for w in found.rivals) < 5


def test_a_pot_without_a_handle_has_rivals():
    x, y = pot(300, 4, handle=0), pot(300, 5, handle=0) @ TURN + OFFSET
    assert choose_motion(x, y, TRUTH[None], proper=True).rivals


def test_the_way_of_the_weakest_motion_leads_around_the_axis():
    clouds = Clouds.of(pot(400, 6), pot(400, 7) @ TURN + OFFSET)
    assert min(angle(w) for w in slip_away(clouds, about(np.pi))) < 10


def test_half_turns_are_proposed_and_mirror_images_only_if_allowed():
    clouds = Clouds.of(pot(300, 8), pot(300, 9) @ TURN + OFFSET)
    for proper in (True, False):
        signs = {round(float(np.linalg.det(w[:-1]))) for w in propose_rivals(clouds, TRUTH, proper=proper)}
        assert signs == ({1} if proper else {1, -1})


def test_maps_that_move_no_point_by_half_the_spacing_are_one():
    clouds = Clouds.of(pot(300, 10), pot(300, 11) @ TURN + OFFSET)
    assert len(keep_distinct(clouds, [TRUTH, about(0.01), about(0.5)])) == 2


def test_neighbours_that_differ_together_count_less():
    clouds = Clouds.of(pot(300, 12), pot(300, 15) @ TURN + OFFSET)
    rng = np.random.default_rng(12)
    alone = rng.normal(0.1, 1.0, 600)
    assert count_errors(clouds, alone) == pytest.approx(alone.mean() / alone.std() * 600**0.5, rel=0.25)
    together = np.concatenate([0.1 + np.sign(one.points @ [3.0, -2.0, 1.0]) for one in (clouds.x, clouds.y)])
    plain = together.mean() / together.std() * 600**0.5
    assert abs(count_errors(clouds, together)) < 0.5 * abs(plain)


def test_a_symmetric_shape_is_called_doubtful_where_only_a_part_corresponds():
    x, y = pot(160, 13, handle=0), pot(160, 14, handle=0)
    result = invarot.align(x, y[y[:, 2] > -0.4] @ TURN + OFFSET, translate=True, overlap="auto", p=invarot.Rotations())
    assert result.verdict.word not in ("aligned", "coarse")


def test_a_handle_tells_more_than_a_part_that_was_not_seen():
    """Turned by half, the cut pots cover more of each other; but where a handle stands, the other has seen none."""
    x, y = pot(900, 20, handle=0.15), pot(900, 21, handle=0.15)
    x, y = x[x[:, 1] > -0.4], y[y[:, 1] < 0.4]
    clouds = Clouds.of(x, y @ TURN + OFFSET)
    right, turned = clouds.look_at(TRUTH), clouds.look_at(about(np.pi))
    assert turned.misfit.mean() < right.misfit.mean()
    assert compare(clouds, right, turned) > 0
    assert compare(clouds, right, turned) == -compare(clouds, turned, right)
    assert choose_best(clouds, [turned.map, right.map]).map is right.map
    assert choose_best(clouds, [turned.map, right.map], stay=True).map is turned.map


def test_points_that_coincide_decide_against_a_motion_that_covers_more():
    """Two parts of one strip, half of their points common: laid on each other in full they differ by a low relief only."""
    rng = np.random.default_rng(8)
    strip = np.column_stack([rng.uniform(0, 3, 900), rng.uniform(0, 1, 900), np.zeros(900)])
    strip[:, 2] = 0.006 * np.sin(2 * strip[:, 0]) * strip[:, 1]
    x, y = strip[strip[:, 0] < 2], strip[strip[:, 0] > 1]
    still = np.eye(4)[:, :-1]
    along = still + np.outer([0, 0, 0, 1], [1.0, 0.0, 0.0])
    full = Clouds.of(x, y)
    assert full.shares_points(still)
    assert not full.shares_points(along)
    assert full.measure(along).mean() < full.measure(still).mean()  # it covers more
    near = np.concatenate([Rotation.from_rotvec([0.0, 0.0, 0.01]).as_matrix(), [[0.01, -0.01, 0.002]]])
    chosen = choose_motion(x, y, np.stack([along, near]), proper=True)
    np.testing.assert_allclose(chosen.map, still, atol=1e-6)
    assert not chosen.rivals


@pytest.mark.parametrize("overlap", ["auto", None])
@pytest.mark.parametrize("flipped", [False, True])
def test_a_shape_of_the_other_hand_is_not_aligned(flipped, overlap):
    """An ellipsoid with a bump off all planes of symmetry: a motion lays all but the bump on its mirror image."""

    def sample(rng):
        way = rng.normal(size=(900, 3))
        way /= np.linalg.norm(way, axis=1, keepdims=True)
        bump = 1.2 * np.exp(-6 * np.sum((way - np.asarray([0.6, 0.6, 0.52])) ** 2, axis=1))
        return way * [3, 2, 1] * (1 + bump[:, None])

    rng = np.random.default_rng(0)
    x, y = sample(rng), sample(rng) @ TURN + OFFSET
    if flipped:
        x[:, 0] *= -1
    options = {"translate": True, "overlap": overlap, "rng": 0}
    verdict = invarot.align(x, y, p=invarot.Rotations(), **options).verdict
    assert (verdict.word in ("aligned", "coarse")) is not flipped
    assert any("mirror image" in reason for reason in verdict.reasons) is flipped
    assert invarot.align(x, y, **options).verdict


def test_the_look_at_mirror_images_is_no_step_of_the_solve():
    rng = np.random.default_rng(0)
    x = rng.gamma(2.0, size=(600, 3))
    steps = []
    result = invarot.align(x, x @ TURN, p=invarot.Rotations(), rng=0, on_step=steps.append)
    last = steps[-len(result.history) :]
    assert [step.objective for step in last] == [step.objective for step in result.history]
