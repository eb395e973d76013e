"""The starts that were asked for, and every refusal."""

from __future__ import annotations

import numpy as np
import pytest

from invarot import InputError, Search
from invarot.alignment.search.asked import EFFORT, SIDE_WEIGHT, check_asked, keep_pairs, keep_rows
from invarot.threads import workers

from ..clouds import posed, turned

X, Y, TURN, MATCH = turned(10, 3)
SIDE = np.arange(10.0), np.arange(10.0)


def asked(start="auto", n_starts=None, effort=None, pairs=None, search=None, side=None, **posing):
    return check_asked(posed(X, Y, **posing), start, n_starts, effort, pairs, search or Search(), side)


def test_defaults():
    found = asked()
    assert (found.name, found.maps, found.n_starts) == ("auto", None, None)
    assert found.waves == EFFORT["normal"]
    assert (found.side_weight, found.n_jobs) == (SIDE_WEIGHT, 1)


def test_each_option_is_carried():
    assert asked(effort="high").waves == EFFORT["high"] > EFFORT["normal"] > EFFORT["quick"]
    assert asked(n_starts=7).name == "random"  # a number of starts means random ones
    assert asked(start="random", n_starts=7).n_starts == 7
    assert asked(search=Search(side=SIDE, side_weight=2.0), side=SIDE).side_weight == 2.0
    assert asked(start="random", search=Search(n_jobs=3)).n_jobs == 3
    assert asked(start="random", search=Search(n_jobs=-1)).n_jobs == workers()
    assert asked(start="seeds", pairs=[(0, 0)]).pairs == [(0, 0)]


def test_a_map_comes_into_the_coordinates_of_the_solve(lib):
    one = check_asked(posed(lib.array(X), lib.array(Y)), lib.array(TURN), None, None, None, Search(), None)
    assert (one.name, one.maps.shape) == ("given", (1, 3, 3))
    np.testing.assert_allclose(lib.numpy(one.maps)[0], TURN)
    np.testing.assert_allclose(asked(start=np.stack([TURN, -TURN])).maps, [TURN, -TURN])
    np.testing.assert_allclose(asked(start=7 * TURN, scale=True).maps[0], TURN, atol=1e-12)  # the scale comes on top


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"start": "sginature"}, r"start: expected one of .*did you mean 'signature'\?"),
        ({"start": np.eye(2)}, r"start: expected a map of shape \(3, 3\)"),
        ({"start": np.full((3, 3), np.nan)}, "start: expected finite"),
        ({"start": None}, "start: expected"),
        ({"start": "given"}, "start: expected one of"),
        ({"n_starts": 0}, "n_starts: expected a whole number"),
        ({"n_starts": 2.5}, "n_starts: expected a whole number"),
        ({"n_starts": 3, "start": "axes"}, "n_starts: expected with start='random' or 'gaussian', got 'axes'"),
        ({"n_starts": 3, "start": TURN}, "n_starts: expected with start='random' or 'gaussian', got a map"),
        ({"effort": "extreme"}, "effort: expected one of quick, normal, high, max"),
        ({"effort": "high", "start": "axes"}, "effort: expected only with start='auto', got 'high' and 'axes'"),
        ({"effort": "high", "n_starts": 3}, "effort: expected only with start='auto', got 'high' and 'random'"),
        ({"search": Search(side=SIDE), "start": "random"}, "side: expected with start='auto' or 'signature'"),
        ({"search": Search(seed_weight=0), "start": "axes"}, "seed_weight: expected more than 0 with 'axes'"),
        ({"start": "seeds"}, "seeds: expected known pairs"),
    ],
)  # fmt: skip
def test_refusals(options, message):
    with pytest.raises(InputError, match=f"^{message}"):
        asked(**options)


def test_pairs_are_renumbered_among_the_points_that_have_weight(lib):
    a = np.array([0.5, 0.0, 0.0, 0.5])
    b = np.array([0.0, 0.5, 0.5])
    pairs = [(0, 1), (3, 2)]
    assert keep_pairs(pairs, lib.array(a), lib.array(b)).tolist() == [[0, 0], [1, 1]]
    assert keep_pairs(lib.array(pairs), lib.array(a), lib.array(b)).tolist() == [[0, 0], [1, 1]]
    with pytest.raises(
        InputError, match=r"^seeds: expected pairs of points with weight, got 2 with a point of weight 0"
    ):
        keep_pairs([(0, 1), (1, 1), (3, 0)], a, b)
    for wrong in ([(0, 50)], [(0, 1), (2,)], [("a", "b")]):
        with pytest.raises(InputError, match=r"^seeds: expected"):
            keep_pairs(wrong, a, b)


def test_side_information_keeps_the_rows_that_have_weight(lib):
    a, b = np.array([0.5, 0.0, 0.5]), np.array([0.0, 1.0])
    fx, fy = keep_rows((lib.array([1.0, 2, 3]), [[4.0], [5.0]]), lib.array(a), lib.array(b))
    assert fx.tolist() == [1, 3]
    assert fy.tolist() == [[5]]
    for side, name in (((np.ones(2), np.ones(2)), "fx"), ((np.ones(3), np.ones(9)), "fy"), ((1.0, np.ones(2)), "fx")):
        with pytest.raises(InputError, match=rf"side: expected \d rows in {name}, one per point, got shape"):
            keep_rows(side, a, b)
