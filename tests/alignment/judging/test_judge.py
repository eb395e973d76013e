"""The verdict on what was found: evidence, rivals, symmetries, once."""

from __future__ import annotations

import numpy as np
import pytest

import invarot
from invarot.alignment.candidate import Found
from invarot.alignment.judging.judge import judge, judge_map
from invarot.retrieval.nearest import find_mutual_nearest

from ..clouds import posed, solved, turned


def rng():
    return np.random.default_rng(0)


def test_a_right_map_and_wrong_ones(lib):
    x, y, turn, _ = turned(120, 4, noise=0.1)
    problem = posed(lib.array(x), lib.array(y))
    assert judge_map(problem, lib.array(turn), rng()).word == "aligned"
    assert judge_map(problem, lib.array(-turn), rng()).word != "aligned"


@pytest.mark.parametrize("seed", range(3))
def test_unrelated_points_fewer_than_dimensions_are_no_evidence(seed):
    """A map in 60 dimensions carries any 30 points onto any 30 others; none of them is held out well."""
    draw = np.random.default_rng(seed)
    x, y = draw.standard_normal((30, 60)), draw.standard_normal((30, 60))
    problem = posed(x, y)
    fitted = solved(problem, np.linalg.qr(draw.standard_normal((60, 60)))[0])
    assert find_mutual_nearest(x @ fitted.map, y, np.arange(30))[1].mean() > 0.9  # it does fit them
    assert judge_map(problem, fitted.map, rng()).word != "aligned"


def test_the_candidates_behind_the_best_are_its_rivals():
    x, y, turn, _ = turned(80, 3)
    problem = posed(x, y)
    right, wrong = solved(problem, turn), solved(problem, -turn)
    alone, beside = (judge(problem, Found(found, ()), rng()) for found in ((right,), (right, wrong)))
    assert (alone.word, alone.evidence.rivals) == ("aligned", 0)
    assert beside.evidence.rivals == 1
    assert beside.probability == pytest.approx(alone.probability / 2, rel=3e-2)
    beaten = judge(problem, Found((right,), (), better=3), rng())
    assert beaten.evidence.better == 3
    assert beaten.word == "doubtful"


def test_symmetries_of_a_right_map_are_added_to_the_rivals():
    half = np.random.default_rng(1).gamma(2.0, size=(60, 3)) * [3, 2, 1]
    x = np.concatenate([half, -half])
    problem = posed(x, x)
    found = judge_map(problem, np.eye(3), rng())
    assert found.evidence.rivals == 1
    assert found.symmetric
    known = judge_map(problem, np.eye(3), rng(), rivals=[-np.eye(3)])
    assert known.evidence.rivals == 1  # that very one


def test_same_rng_same_verdict():
    x, y, _, _ = turned(100, 3, noise=0.8)
    one, other = (invarot.align(x, y, start="axes", rng=4).verdict for _ in range(2))
    assert one == other


def embed_graph(points, d=4):
    """The leading eigenvectors of the normalised adjacency of a geometric graph, each times its eigenvalue."""
    far = np.linalg.norm(points[:, None] - points, axis=2)
    near = (far < np.quantile(far, 0.12)) & (far > 0)
    degree = near.sum(1) + 1e-3
    values, vectors = np.linalg.eigh((near + 1e-3 / len(points)) / np.sqrt(degree[:, None] * degree))
    return vectors[:, -d - 1 : -1] * values[-d - 1 : -1] * np.sqrt(len(points))


def test_unrelated_graphs_are_hardly_ever_called_right():
    """Curved clouds of one kind fit each other better than any null that shuffles coordinates; one pair in twelve by chance as copies do."""
    words = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        one, other = (embed_graph(rng.uniform(size=(100, 2)) * [1, side]) for side in (0.9, 0.6))
        words.append(invarot.align(one, other, effort="quick").verdict.word)
        turn = np.linalg.qr(rng.normal(size=(4, 4)))[0]
        assert seed > 3 or invarot.align(one, one[::-1] @ turn, effort="quick").verdict.word == "aligned"
    assert sum(word in ("aligned", "coarse") for word in words) <= 1


def test_noise_has_failed_and_is_no_symmetry():
    x, y = np.random.default_rng(3).standard_normal((2, 200, 30))
    verdict = invarot.align(x, y, effort="quick").verdict
    assert verdict.word == "failed"
    assert not verdict.symmetric
    assert "symmetric" not in str(verdict)
