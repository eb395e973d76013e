"""What comes of several finished starts, on clouds whose answer is known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import invarot
from invarot.alignment.alternate import alternate
from invarot.alignment.outcome import Finish, Tried, conclude, finish
from invarot.alignment.problem import pose
from invarot.alignment.settings import Settings
from invarot.transport.schedule import Schedule

MIRROR = np.diag([1.0, -1.0])


def blurred(cloud: np.ndarray, sharpest: float | None) -> tuple[Tried, Finish, Finish]:
    """A cloud beside itself: the identity and its mirror image, each solved at an epsilon that does not see the points."""
    settings = Settings(schedule=Schedule(0.5, 0.5, 0.5), sharpest=sharpest, max_iter=50)
    a = np.full(len(cloud), 1 / len(cloud))
    problem = pose(cloud, cloud, a, a, settings)
    ends = [finish(alternate(problem, w[None], settings), 0, name, settings)
            for name, w in (("right", np.eye(2)), ("wrong", MIRROR))]  # fmt: skip
    right, wrong = ends
    wrong = replace(wrong, value=right.value + 1e-9, objective=right.objective + 1e-9)
    tried = Tried(problem, settings, None, [right, wrong])
    return tried, right, wrong


def lopsided(count: int = 60) -> np.ndarray:
    rng = np.random.default_rng(0)
    cloud = rng.standard_normal((count, 2)) * [2.0, 1.0]
    return cloud - cloud.mean(axis=0)


def test_rivals_are_told_apart_at_the_sharpest_epsilon():
    tried, _, _ = blurred(lopsided(), None)
    blunt = conclude(tried)
    assert blunt.winner.name == "wrong"
    assert blunt.verdict.evidence.rivals == 1
    tried, right, _ = blurred(lopsided(), 0.005)
    sharp = conclude(tried)
    assert sharp.winner.name == "right"
    assert sharp.place == 0
    assert sharp.verdict.evidence.rivals == 0
    assert sharp.verdict.evidence.agreement == 0.5
    assert sharp.winner.objective == right.objective  # as the records have it
    assert sharp.winner.ended > right.ended
    assert sharp.winner.history[-1].stage == "sharpen"


def test_a_symmetry_is_one_at_every_epsilon():
    half = lopsided(30)
    tried, _, _ = blurred(np.concatenate([half, half @ MIRROR]), 0.005)
    found = conclude(tried)
    assert found.verdict.evidence.rivals == 1
    assert found.winner.history[-1].stage == "sharpen"


def test_what_has_been_sharpened_is_not_sharpened_again():
    tried, _, _ = blurred(lopsided(), 0.005)
    assert conclude(tried).winner is conclude(tried).winner
    assert len(tried.sharp) == 2


def test_the_records_tell_where_the_winner_of_rivals_ended(plane_twins):
    """A noisy plane cloud of which the mirror image is as good until the plan is sharp."""
    x, y, turn = plane_twins(5, noise=0.2)
    result = invarot.align(x, y, rng=5)
    assert np.allclose(result.map, turn, atol=0.05)
    assert not result.verdict.symmetric
    ends = [start.objective for start in result.starts if start.finished]
    assert len(ends) > 1
    assert result.objective == pytest.approx(max(ends))
