"""The race: when it ends, and that it finds what it should."""

from __future__ import annotations

import numpy as np
import pytest

import invarot
from invarot import Exact, Schatten, Sinkhorn
from invarot.alignment.evidence import explains_unseen
from invarot.alignment.problem import distinct, same_answer
from invarot.alignment.search.search import race
from invarot.starts.portfolio import Wave

from ..clouds import posed, random_turn, rotation, solved, turned


def rng(seed=0):
    return np.random.default_rng(seed)


class Waves:
    """Waves of one map each, and how many of them were asked for."""

    def __init__(self, maps):
        self.asked = 0
        self.waves = iter(Wave(w[None], [f"start {k}"]) for k, w in enumerate(maps))

    def __iter__(self):
        return self

    def __next__(self):
        found = next(self.waves)
        self.asked += 1
        return found


@pytest.fixture(scope="module")
def strangers():
    """Two clouds that have nothing to do with each other, and the optima of their alignment, best first."""
    draw = rng(5)
    problem = posed(draw.standard_normal((60, 4)), draw.gamma(1.0, size=(60, 4)) - 1)
    ends = [solved(problem, random_turn(4, draw)) for _ in range(12)]
    ends.sort(key=lambda one: -one.value)
    maps = np.stack([one.map for one in ends])
    optima = maps[distinct(problem, maps, range(len(maps)))]
    assert len(optima) >= 4
    assert not any(explains_unseen(problem, w, rng()) for w in optima)
    return problem, optima


# -- when it ends ----------------------------------------------------------------------------------------------------


def test_two_waves_that_agree_end_a_race(strangers):
    problem, (best, second, third, *_) = strangers
    for maps, expected in (
        ([best, best, second, third], 2),
        ([best, second, third, best, second], 4),
        ([second, second, best], 2),
        ([second, best, second, best, third], 4),  # agreement on an answer that has been beaten is none
        ([third, second, best], 3),
    ):
        waves = Waves(maps)
        found = race(problem, waves, waves=10, rng=rng())
        assert waves.asked == expected
        assert len(found.starts) == expected


def test_waves_that_agree_do_not_end_an_exhaustive_race(strangers):
    problem, (best, second, *_) = strangers
    for exhaustive, expected in ((False, 2), (True, 3)):
        waves = Waves([second, second, best])
        found = race(problem, waves, waves=3, exhaustive=exhaustive, rng=rng())
        assert (waves.asked, found.agreed) == (expected, not exhaustive)
        assert same_answer(problem, found.best.map, best if exhaustive else second)


def test_as_many_waves_as_the_effort_allows(strangers):
    problem, optima = strangers
    for allowed in (1, 2, 3):
        waves = Waves(optima)
        found = race(problem, waves, waves=allowed, rng=rng())
        assert waves.asked == allowed
        assert len(found.candidates) == allowed
        values = [one.value for one in found.candidates]
        assert values == sorted(values, reverse=True)
        assert not any(
            same_answer(problem, one.map, other.map)
            for k, one in enumerate(found.candidates)
            for other in found.candidates[:k]
        )


def test_an_answer_that_holds_for_unseen_points_ends_it_at_once():
    x, y, turn, _ = turned(80, 4, noise=0.1)
    waves = Waves([turn, -turn, turn])
    found = race(posed(x, y), waves, waves=10, rng=rng())
    assert waves.asked == 1
    np.testing.assert_allclose(found.best.map, turn, atol=0.05)


@pytest.mark.parametrize(("n", "d"), [(60, 2), (100, 5), (200, 20)])
@pytest.mark.parametrize("noise", [0.0, 0.05])
def test_copies_hold_for_unseen_points(lib, n, d, noise):
    x, y, turn, _ = turned(n, d, noise=noise)
    assert explains_unseen(posed(lib.array(x), lib.array(y)), lib.array(turn), rng())


@pytest.mark.parametrize(("n", "d"), [(60, 2), (100, 5), (200, 20), (40, 60)])
def test_strangers_do_not(n, d):
    draw = rng(n)
    problem = posed(draw.standard_normal((n, d)), draw.gamma(2.0, size=(n, d)) - 2)
    assert not explains_unseen(problem, solved(problem, random_turn(d, draw)).map, rng())


@pytest.mark.parametrize(("n", "d"), [(100, 2), (200, 3), (200, 5)])
@pytest.mark.parametrize("seed", range(3))
def test_nor_do_two_samples_of_one_shape(n, d, seed):
    draw = rng([n, seed])
    turn = random_turn(d, draw)
    x, y = draw.gamma(2.0, size=(n, d)), draw.gamma(2.0, size=(n, d)) @ turn
    assert not explains_unseen(posed(x, y), turn, rng())


def test_a_symmetry_shows_as_two_finalists():
    half = rng(1).gamma(2.0, size=(60, 3)) * [3, 2, 1]
    x = np.concatenate([half, -half])
    turn = random_turn(3, rng(2))
    wave = Wave(np.stack([turn, -turn, turn]), ["one", "other", "again"])
    found = race(posed(x, x @ turn), iter([wave]), waves=1, rng=rng())
    assert len(found.candidates) == 2
    assert sorted(one.name for one in found.starts if one.finished) == ["one", "other"]
    assert [one.name for one in found.starts if not one.finished] == ["again"]


# -- known answers ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "d"), [(50, 2), (60, 3), (80, 10), (100, 30)])
def test_auto_finds_the_isometry_and_knows_it(n, d):
    x, y, turn, truth = turned(n, d)
    result = invarot.align(x, y)
    assert np.mean(result.matches() == truth) >= 0.99
    np.testing.assert_allclose(result.map, turn, atol=1e-2)
    assert result.verdict.word == "aligned"


@pytest.mark.filterwarnings("ignore::invarot.NotConverged")
def test_auto_never_ends_below_its_members():
    x, y, _, _ = turned(120, 8, noise=0.3)
    best = invarot.align(x, y, effort="high").objective
    for member in ("signature", "axes", "clusters"):
        assert best >= invarot.align(x, y, start=member).objective - 1e-3 * abs(best)


def test_exact_plans_can_be_raced():
    x, y, turn, _ = turned(40, 3)
    np.testing.assert_allclose(invarot.align(x, y, solver=Exact()).map, turn, atol=1e-6)


@pytest.mark.parametrize(("seed", "noise"), [(72, 0.0), (14, 0.05)])
def test_plane_clouds_whose_mirror_images_lead_a_while(plane_twins, seed, noise):
    """Until plans have their marginals (72), while a first heat drops starts (14)."""
    x, y, turn = plane_twins(seed, noise=noise)
    result = invarot.align(x, y, rng=seed)
    np.testing.assert_allclose(result.map, turn, atol=1e-2)
    assert result.verdict.word == "aligned"


def test_a_symmetric_cloud_is_named_as_such():
    """Four clusters of one shape at the corners of a square: every quarter turn fits as well."""
    draw = rng(3)
    corner = draw.standard_normal((15, 2)) * 0.05 + [2.0, 2.0]
    cloud = np.concatenate([corner @ np.linalg.matrix_power(rotation(np.pi / 2), k) for k in range(4)])
    result = invarot.align(cloud, cloud[draw.permutation(60)])
    assert result.verdict.symmetric
    assert result.verdict.word == "doubtful"


def test_two_maps_that_are_wrong_alike_do_not_pass_for_right():
    """White points under a map of the Frobenius ball: two wrong answers score alike, and look like a symmetry."""
    from invarot.experiments.clouds import make_cloud, random_map

    draw = rng((0, 1))
    x = make_cloud(60, 4, draw, whiten=True)
    true, order = random_map(4, 2.0, draw), draw.permutation(60)
    y = (x @ true + 0.1 * draw.normal(size=x.shape))[order]
    result = invarot.align(x, y, p=Schatten(2), rng=1, solver=Sinkhorn())
    right = np.mean(result.matches() == np.argsort(order))
    assert right > 0.9 or result.verdict.word != "aligned"


@pytest.mark.parametrize("unit", [1e-25, 1e25])
def test_points_beyond_the_range_of_single_precision_are_raced_in_double(unit):
    x, y, turn, _ = turned(60, 3)
    assert np.allclose(invarot.align(unit * x, unit * y).map, turn, atol=1e-2)
