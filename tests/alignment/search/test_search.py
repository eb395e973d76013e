"""From starts to candidates, and what is noted on the way."""

from __future__ import annotations

import numpy as np
import pytest

import invarot
from invarot import Schatten, Search, Sinkhorn, Stages
from invarot.alignment.loop.batches import STARTS_PER_BATCH
from invarot.alignment.problem import same_answer, slack
from invarot.alignment.search import search as searching
from invarot.alignment.search.asked import START_NAMES, check_asked
from invarot.alignment.search.search import make_starts, search

from ..clouds import posed, random_turn, turned

X, Y, TURN, MATCH = turned(40, 3)
PAIRS = np.stack([np.arange(5), MATCH[:5]], axis=1)


def rng(seed=0):
    return np.random.default_rng(seed)


def ask(problem, start="auto", *, n_starts=None, effort=None, pairs=None, given=None):
    given = given or Search()
    return check_asked(problem, start, n_starts, effort, pairs, given, given.side)


# -- starts ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in START_NAMES if name != "auto"])
@pytest.mark.parametrize("p", [2.0, np.inf])
def test_every_start_gives_maps_of_the_family(name, p):
    problem = posed(X, Y, maps=Schatten(p, radius=0.5))
    wave = make_starts(problem, ask(problem, name, pairs=PAIRS if name == "seeds" else None), rng())
    norms = np.linalg.norm(np.linalg.svd(wave.maps, compute_uv=False), ord=p, axis=1)
    assert (norms <= 0.5 + 1e-9).all()
    assert set(wave.names) == {name}
    assert len(wave.names) == len(wave.maps)


def test_a_start_that_was_asked_for_is_the_only_kind_tried():
    problem = posed(X, Y)
    for name in ("axes", "signature"):
        found = search(problem, ask(problem, name), rng())
        assert {one.name for one in found.starts} == {name}
        assert all(one.finished for one in found.starts)
    assert len(search(problem, ask(problem, n_starts=5), rng()).starts) == 5
    assert len(search(problem, ask(problem, np.stack([TURN, -TURN])), rng()).starts) == 2


def test_options_reach_the_starts():
    """Order of rows, side information and its weight, known pairs."""
    many_x, many_y, _, _ = turned(5200, 2)
    maps = [
        make_starts(posed(many_x, many_y, ordered=flag), ask(posed(many_x, many_y), "signature"), rng()).maps
        for flag in (False, True)
    ]
    assert not np.allclose(maps[0], maps[1])
    side, problem = (np.arange(40.0), np.arange(40.0)), posed(X, Y)
    found = [
        make_starts(problem, ask(problem, "signature", given=given), rng()).maps
        for given in (Search(), Search(side=side), Search(side=side, side_weight=100.0))
    ]
    assert not np.allclose(found[0], found[1])
    assert not np.allclose(found[1], found[2])
    others = np.stack([np.arange(5), MATCH[5:10]], axis=1)
    pulled = [make_starts(problem, ask(problem, "seeds", pairs=pairs), rng()).maps[0] for pairs in (PAIRS, others)]
    assert not np.allclose(*pulled)


# -- candidates ------------------------------------------------------------------------------------------------------


def test_candidates_are_different_answers_best_first():
    half = rng(1).gamma(2.0, size=(40, 3)) * [3, 2, 1]
    x = np.concatenate([half, -half])
    problem = posed(x, x)
    found = search(problem, ask(problem, np.stack([np.eye(3), -np.eye(3), np.eye(3)])), rng())
    assert len(found.candidates) == 2
    one, other = found.candidates
    assert one.value >= other.value >= one.value - slack(problem, one.value)
    assert not same_answer(problem, one.map, other.map)
    assert len(found.starts) == 3


def test_worse_ends_are_recorded_and_no_candidates():
    problem = posed(X, Y)
    found = search(problem, ask(problem, np.stack([-TURN, TURN])), rng())
    assert len(found.candidates) == 1
    np.testing.assert_allclose(found.best.map, TURN, atol=0.05)
    assert found.starts[1].objective > found.starts[0].objective
    assert found.best.objective == found.starts[1].objective


def test_best_is_the_lowest_where_the_objective_is_a_cost():
    problem = posed(X, Y, solver=Sinkhorn(objective="transport", schedule=0.05))
    found = search(problem, ask(problem, np.stack([-TURN, TURN])), rng())
    assert found.best.objective == min(one.objective for one in found.starts)
    assert found.best.value == -found.best.objective


def test_fused_goes_on_from_a_low_epsilon():
    problem = posed(X, Y)
    first = {name: search(problem, ask(problem, name), rng()).best.history[0].epsilon for name in ("fused", "axes")}
    assert first["fused"] < first["axes"]


def test_more_effort_is_more_waves():
    draw = rng(3)
    problem = posed(draw.standard_normal((40, 5)), draw.gamma(1.0, size=(30, 6)), solver=Sinkhorn(schedule=0.3))
    counts = [len(search(problem, ask(problem, effort=effort), rng()).starts) for effort in ("quick", "normal")]
    assert counts[0] < counts[1]


def test_of_few_points_plain_starts_are_solved_beside_what_was_asked_for(monkeypatch):
    """A start at a wrong optimum is not called aligned; of many points, or with known pairs, nothing is compared."""
    seen = []
    problem = posed(X, Y, on_step=seen.append)
    found = search(problem, ask(problem, -TURN), rng())
    assert found.plain
    assert max(one.value for one in found.plain) > found.best.value
    assert not any(step.stage == "race" for step in seen)  # an observer sees what was asked for
    assert search(problem, ask(problem), rng()).plain == ()
    monkeypatch.setattr(searching, "FEW_POINTS", 39)
    assert search(problem, ask(problem, -TURN), rng()).plain == ()


def test_a_wrong_answer_that_was_asked_for_is_doubted():
    result = invarot.align(X, Y, start=-TURN)
    assert result.verdict.word != "aligned"
    assert result.verdict.evidence.better > 0
    assert invarot.align(X, Y, start=TURN).verdict.evidence.better == 0


def test_same_rng_same_starts():
    problem = posed(X, Y)
    one, same, other = (
        [start.objective for start in search(problem, ask(problem, n_starts=4), rng(seed)).starts] for seed in (1, 1, 2)
    )
    assert one == same != other


# -- notes -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "note"),
    [
        ({"search": Search(ordered=True)}, "ordered: no effect, since no rows were drawn from 40 points"),
        (
            {"solver": Sinkhorn(stages=Stages((40, 90)))},
            "stages: no effect, since all sizes are at least the 40 points",
        ),
        ({"n_starts": 3, "search": Search(n_jobs=2)}, "n_jobs: no effect, since 3 starts make 1 batch"),
    ],
    ids=lambda value: value.split(":")[0] if isinstance(value, str) else "",
)
def test_an_option_without_effect_is_noted(options, note):
    result = invarot.align(X, Y, **options)
    assert len(result.notes) == 1
    assert result.notes[0].startswith(note)
    assert f"note       {note}" in str(result)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"solver": Sinkhorn(stages=Stages(()))},
        {"solver": Sinkhorn(stages=Stages(20)), "search": Search(ordered=True)},
        {"n_starts": STARTS_PER_BATCH + 1, "search": Search(n_jobs=2)},
    ],
)
def test_one_with_an_effect_is_not(options):
    assert invarot.align(X, Y, **options).notes == ()


def test_ordered_has_an_effect_where_points_are_drawn():
    """Random starts of more points than a stage has: other points, another end."""
    draw = rng(4)
    x = np.concatenate([draw.gamma(2.0, size=(60, 2)), draw.standard_normal((60, 2))])
    y = x @ random_turn(2, draw) + 0.3 * draw.standard_normal(x.shape)
    solver = Sinkhorn(schedule=0.2, stages=Stages(30), tol=1e-2)
    ends = [
        invarot.align(x, y, start="identity", solver=solver, search=Search(ordered=flag)).history[0].energy
        for flag in (False, True)
    ]
    assert ends[0] != ends[1]
