"""A direction of the map that lies the wrong way round, on clouds whose answer is known."""

from __future__ import annotations

import numpy as np
import pytest

import invarot
from invarot.alignment import mirrors
from invarot.alignment.alternate import alternate
from invarot.alignment.problem import pose
from invarot.alignment.settings import Settings
from invarot.transport.schedule import Schedule

LOW = Settings(schedule=Schedule.fixed(0.004))


def clusters(noise: float) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Six clusters in five dimensions that lie in a common plane of three, so that two directions are weak."""
    rng = np.random.default_rng(0)
    centres = np.concatenate([3 * rng.standard_normal((6, 3)), np.zeros((6, 2))], axis=1)
    x = centres[np.arange(60) % 6] + rng.gamma(1.0, size=(60, 5)) * [0.3, 0.3, 0.3, 0.5, 0.3]
    turn = np.linalg.qr(rng.standard_normal((5, 5)))[0]
    order = rng.permutation(60)
    y = (x @ turn)[order] + noise * rng.standard_normal((60, 5))
    return x - x.mean(axis=0), y - y.mean(axis=0), turn, np.argsort(order)


def solved(x: np.ndarray, y: np.ndarray, w: np.ndarray, settings: Settings = LOW):
    a = np.full(len(x), 1 / len(x))
    problem = pose(x, y, a, a, settings)
    return problem, alternate(problem, w[None], settings)


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_clusters_mirrored_in_themselves_are_turned_back(library):
    x, y, turn, truth = clusters(0.1)
    axes = np.linalg.eigh(x.T @ x)[1]
    wrong = (np.eye(5) - 2 * np.outer(axes[:, 0], axes[:, 0])) @ turn  # the weakest direction turned round
    if library == "torch":
        torch = pytest.importorskip("torch")
        a = torch.full((60,), 1 / 60, dtype=torch.float64)
        tensors = [torch.from_numpy(one) for one in (x, y, wrong)]
        problem = pose(tensors[0], tensors[1], a, a, LOW)
        run = alternate(problem, tensors[2][None], LOW)
    else:
        problem, run = solved(x, y, wrong)
    assert np.max(np.abs(np.asarray(run.maps[0]) - turn)) > 0.2  # the alternation does not come back by itself
    better = mirrors.improve(problem, LOW, run.plan(0), float(run.values[0]), None)
    assert better is not None
    assert better.values[0] > run.values[0]
    found = np.asarray(better.maps[0])
    assert np.mean(np.argmax(x @ found @ y.T - np.sum(y**2, axis=1) / 2, axis=1) == truth) >= 0.95
    again = mirrors.improve(problem, LOW, better.plan(0), float(better.values[0]), None)
    assert again is None  # and nothing is gained from there


def test_a_plan_that_leaves_no_doubt_has_no_mirror_images():
    x, y, turn, _ = clusters(0.0)
    sharp = Settings(schedule=Schedule.fixed(0.0005))
    problem, run = solved(x, y, turn, sharp)
    assert mirrors.mirror_images(problem, sharp, run.plan(0)).shape[0] == 1
    assert mirrors.improve(problem, sharp, run.plan(0), float(run.values[0]), None) is None


def test_mirror_images_are_maps_of_the_kind_asked_for():
    x, y, turn, _ = clusters(0.3)
    problem, run = solved(x, y, turn)
    maps = mirrors.mirror_images(problem, LOW, run.plan(0))
    assert maps.shape[0] > 1
    assert np.allclose(maps @ maps.transpose(0, 2, 1), np.eye(5))
    assert np.all(np.linalg.det(maps[1:]) * np.linalg.det(maps[0]) < 0)
    assert mirrors.applies(problem, LOW)
    for other in (Settings(p=2), Settings(proper=True), Settings(objective="transport"), Settings(plan="exact")):
        assert not mirrors.applies(problem, other)


def test_auto_turns_a_sheet_that_lies_on_its_back():
    """Two samples of a curved sheet in thirty dimensions: the first candidates end 1 % below the right way round."""
    shape = np.random.default_rng(13030)
    bends = shape.standard_normal((2, 30)), shape.uniform(1, 5, (2, 30)), shape.uniform(0, 6, 30)
    rng = np.random.default_rng([13, 50, 30, 3])
    turn = np.linalg.qr(rng.standard_normal((30, 30)))[0]
    x, y = (
        flat @ bends[0] + np.sin(flat @ bends[1] + bends[2]) for flat in (rng.uniform(0, 1, (n, 2)) for n in (50, 60))
    )
    result = invarot.align(x, y @ turn, rng=13)
    error = np.linalg.norm(x @ (result.map - turn)) / np.linalg.norm(x - x.mean(axis=0))
    assert error < 0.3
    assert any(step.stage == "mirror" for step in result.history)
