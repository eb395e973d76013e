"""Out of the frames: the map and the plan of the points as they came, and what was asked."""

from __future__ import annotations

import json

import numpy as np
import pytest

import invarot
from invarot import Exact, Rotations, Schatten, Schedule, Search, Sinkhorn, Stages
from invarot.alignment.candidate import Found
from invarot.alignment.judging.judge import judge_map
from invarot.alignment.loop.alternate import alternate, make_candidate
from invarot.alignment.options import Maps
from invarot.alignment.package import describe_options, package

from .clouds import posed, solved, turned


def packaged(problem, candidate, x, y, a=None, b=None):
    a, b = (np.full(len(points), 1 / len(points)) if given is None else given for points, given in ((x, a), (y, b)))
    verdict = judge_map(problem, candidate.map, np.random.default_rng(0))
    return package(
        problem,
        Found((candidate,), (), notes=("a note",)),
        verdict,
        x,
        y,
        a,
        b,
        Schatten(),
        {"objective": "simplified"},
    )


@pytest.mark.parametrize(
    "posing",
    [{}, {"translate": True}, {"scale": True}, {"translate": True, "scale": True}, {"maps": Schatten(whiten=True)},
     {"maps": Schatten(whiten=True), "translate": True, "scale": True}],
)  # fmt: skip
def test_the_map_of_the_solve_comes_back_to_the_users_coordinates(posing):
    """x @ map + offset is what the plan's own coordinates say, seen from outside."""
    x, y, turn, match = turned(60, 3)
    size, shift = (3.0 if posing.get("scale") else 1.0), ([5.0, -4.0, 2.0] if posing.get("translate") else [0.0] * 3)
    moved = size * y + shift
    problem = posed(x, moved, solver=Sinkhorn(schedule=0.005), **posing)
    start = problem.frame_x.inverse @ (size * turn) @ problem.frame_y.linear
    found = packaged(problem, solved(problem, problem.maps.fit(start[None])[0]), x, moved)
    np.testing.assert_allclose(found.transform(x), moved[match], atol=0.1)
    np.testing.assert_allclose(found.map, size * turn, atol=0.05)
    assert found.notes == ("a note",)
    if not posing.get("translate"):
        np.testing.assert_array_equal(found.offset, 0)


def test_the_scale_is_the_best_one_for_the_plan():
    """A blurred plan draws its images together: any other scale, a hundredth off, costs more."""
    x, y, turn, _ = turned(60, 3, noise=0.5)
    problem = posed(x, 3 * y, solver=Sinkhorn(schedule=0.3), scale=True)
    found = packaged(problem, solved(problem, problem.maps.fit(turn[None])[0]), x, 3 * y)
    plan = found.plan.dense()
    costs = [np.sum(plan * np.sum(((s * x @ found.map)[:, None] - 3 * y) ** 2, axis=2)) for s in (0.99, 1.0, 1.01)]
    assert costs[1] < min(costs[0], costs[2])
    assert np.linalg.norm(found.map, 2) < 2.9


@pytest.mark.parametrize("solver", [Sinkhorn(schedule=0.01), Exact()])
def test_points_of_no_weight_come_back_into_their_rows(solver):
    x, y, turn, match = turned(30, 3)
    a, b = np.full(30, 1 / 26), np.full(30, 1 / 26)
    a[[0, 7, 8, 29]] = 0
    b[match[[0, 7, 8, 29]]] = 0
    problem = posed(x, y, a=a, b=b, solver=solver)
    candidate = solved(problem, turn)
    found = packaged(problem, candidate, x, y, a, b)
    assert found.plan.dense().shape == (30, 30)
    np.testing.assert_allclose(found.plan.dense()[a > 0][:, b > 0], candidate.plan.dense(), atol=1e-12)
    assert found.plan.dense()[a == 0].sum() == 0 == found.plan.dense()[:, b == 0].sum()
    np.testing.assert_array_equal(found.matches()[a > 0], match[a > 0])
    np.testing.assert_allclose(found.plan.z[a == 0], x[a == 0] @ candidate.map)


def test_packaging_changes_no_candidate():
    x, y, turn, _ = turned(30, 3)
    a = np.where(np.arange(30) < 20, 0.05, 0.0)
    problem = posed(x, y, a=a, scale=True)
    run = alternate(problem, problem.maps.fit(turn[None]), problem.budgets.solve)
    candidate = make_candidate(problem, run, 0, "given")
    before = candidate.map.copy(), candidate.plan.z.copy(), candidate.plan.u.copy()
    packaged(problem, candidate, x, y, a)
    for one, other in zip(before, (candidate.map, candidate.plan.z, candidate.plan.u), strict=True):
        np.testing.assert_array_equal(one, other)


def described(maps: Maps = Schatten(), solver=Sinkhorn(), search=Search(), **more):  # noqa: B008
    options = {"translate": False, "scale": True, "start": "auto", "effort": None, "n_starts": None, "seeds": 0}
    return describe_options(maps, solver, search, **{**options, **more})


def test_what_was_asked_is_plain_values():
    solver = Sinkhorn(schedule=Schedule(0.5, 0.9, 0.1), stages=Stages((10, 20), of="clusters"), memory="1GB")
    search = Search(ordered=True, side=(np.ones(3), np.ones(3)), side_weight=2.0)
    found = described(Rotations(radius=2.0), solver, search, n_starts=3)
    assert found["p"] == np.inf
    assert found["maps"] == {"family": "Rotations", "radius": 2.0, "whiten": False}
    assert found["solver"]["kind"] == "Sinkhorn"
    assert found["solver"]["schedule"]["decay"] == 0.9
    assert found["solver"]["stages"] == {"sizes": [10, 20], "of": "clusters"}
    assert found["search"]["side"] is True
    assert found["search"]["side_weight"] == 2.0
    assert found["n_starts"] == 3
    assert json.loads(json.dumps(found)) == found
    assert described(solver=Exact())["solver"]["kind"] == "Exact"
    assert described()["search"]["side"] is False


def test_numbers_of_numpy_are_plain_numbers_too():
    solver = Sinkhorn(schedule=np.float32(0.5), max_iter=np.int64(9), stages=Stages(np.array([10, 20])))
    found = described(Schatten(np.float64(2)), solver, n_starts=np.int32(3))
    assert json.loads(json.dumps(found)) == found
    assert found["solver"]["stages"]["sizes"] == [10, 20]


def test_side_information_is_not_copied():
    class Heavy(np.ndarray):
        def __deepcopy__(self, memo):
            raise AssertionError("copied")

    heavy = np.ones(3).view(Heavy)
    assert described(search=Search(side=(heavy, heavy)))["search"]["side"] is True


def test_options_that_were_asked_for_are_in_the_result(tmp_path):
    x, y, turn, _ = turned(60, 3)
    result = invarot.align(
        x, y, start=turn, p=Schatten(radius=1.0), search=Search(ordered=True),
        solver=Sinkhorn(refit=True, stages=Stages((20, 40))),
    )  # fmt: skip
    assert result.settings["maps"]["radius"] == 1.0
    assert result.settings["solver"]["refit"] is True
    assert result.settings["search"]["ordered"] is True
    assert result.settings["start"] == "given"
    result.save(tmp_path / "a")
    assert invarot.load(tmp_path / "a").settings == result.settings


@pytest.mark.parametrize(
    "options", [{}, {"translate": True, "scale": True}, {"p": Rotations()}, {"p": Schatten(2)}, {"start": "identity"}]
)
def test_fewer_points_than_dimensions(options):
    """The solve is one of few dimensions; its map is one of all of them, and of its family."""
    x, y, _, match = turned(8, 60)
    if options.get("start") == "identity":
        y = x[np.argsort(match)]
    size, shift = (3.0, 5.0) if options.get("scale") else (1.0, 0.0)
    y, seen = size * y + shift, []
    result = invarot.align(x, y, on_step=lambda step: seen.append(step.map.shape), **options)
    assert max(max(shape) for shape in seen) <= 8
    assert result.matches().tolist() == match.tolist()
    assert result.map.shape == (60, 60)
    if options.get("p") != Schatten(2):
        np.testing.assert_allclose(result.transform(x), y[match], atol=0.05 * np.abs(y).max())
        scale = np.trace(result.map @ result.map.T) / 60
        np.testing.assert_allclose(result.map @ result.map.T, scale * np.eye(60), atol=1e-8)
    if options.get("p") == Rotations():
        assert np.linalg.det(result.map) > 0


def test_points_of_no_weight_are_in_the_span():
    x, y, _, match = turned(8, 60)
    a, b = np.full(8, 1 / 7), np.full(8, 1 / 7)
    a[7] = b[match[7]] = 0
    result = invarot.align(x, y, a=a, b=b)
    assert result.matches()[:7].tolist() == match[:7].tolist()
    z, moved = result.plan.z, result.transform(x)  # all eight, the one without weight too
    np.testing.assert_allclose(z @ z.T, moved @ moved.T, rtol=1e-6)


def test_a_given_start_has_the_dimensions_of_the_clouds():
    x, y, turn, match = turned(8, 60)
    result = invarot.align(x, y, start=turn)
    assert result.matches().tolist() == match.tolist()


def test_matches_tell_apart_what_the_plan_blurs():
    """One long axis sets the cost scale: the last epsilon is far above the spacing of the others."""
    rng = np.random.default_rng(0)
    y = rng.normal(size=(401, 4)) * [1e3, 1, 1, 1]
    order = rng.permutation(401)[:400]
    result = invarot.align(y[order] @ np.linalg.qr(rng.normal(size=(4, 4)))[0], y)
    assert np.mean(result.matches() == order) > 0.99 > np.mean(result.matches("plan") == order)


@pytest.mark.parametrize("options", [{"scale": True}, {"p": invarot.Schatten(whiten=True)}])
def test_nearest_is_the_nearest_to_what_transform_returns(options):
    rng = np.random.default_rng(0)
    x = rng.gamma(2.0, size=(80, 6))
    y = 1.7 * x[::-1] @ np.linalg.qr(rng.normal(size=(6, 6)))[0] + 0.3 * rng.normal(size=x.shape) + 3
    result = invarot.align(x, y, translate=True, **options)
    apart = np.sum((result.transform(x)[:, None] - y) ** 2, axis=2)
    assert np.array_equal(result.matches("nearest"), np.argmin(apart, axis=1))


def test_results_are_compared_by_identity_and_can_be_in_a_set():
    x = np.random.default_rng(0).normal(size=(20, 2))
    result = invarot.align(x, x)
    assert len({result, result, result.plan}) == 2
