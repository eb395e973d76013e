"""Groups of options: types that check themselves, with one form of error, and that hold nothing without effect."""

from __future__ import annotations

import math
from dataclasses import FrozenInstanceError, fields

import numpy as np
import pytest

import invarot
from invarot import Exact, InputError, Rotations, Schatten, Schedule, Search, Sinkhorn, Stages
from invarot.geometry.orthogonal import RotationGroup
from invarot.geometry.schatten import SchattenBall

GROUPS = (Schatten, Rotations, Stages, Sinkhorn, Exact, Search)
ONE = np.ones(3)

BAD = [
    (Schatten, {"p": 0.5}, "p"), (Schatten, {"p": math.nan}, "p"), (Schatten, {"p": "inf"}, "p"),
    (Schatten, {"p": True}, "p"), (Schatten, {"p": None}, "p"),
    *((family, {"radius": radius}, "radius")
      for family in (Schatten, Rotations) for radius in (0, -1, math.inf, math.nan, "1")),
    *((family, {"whiten": value}, "whiten") for family in (Schatten, Rotations) for value in (None, 1, "yes")),
    (Stages, {"sizes": 0}, "sizes"), (Stages, {"sizes": (5, 5)}, "sizes"), (Stages, {"sizes": (9, 3)}, "sizes"),
    (Stages, {"sizes": "many"}, "sizes"), (Stages, {"sizes": 2.5}, "sizes"), (Stages, {"sizes": (1, None)}, "sizes"),
    (Stages, {"sizes": 5, "of": "lumps"}, "of"),
    *((solver, options, next(iter(options)))
      for solver in (Sinkhorn, Exact)
      for options in ({"tol": -1}, {"tol": 2}, {"tol": None}, {"max_iter": 0}, {"max_iter": 2.5},
                      {"objective": "transprt"}, {"refit": "yes"}, {"stages": (2000,)}, {"memory": "lots"},
                      {"refit": True, "objective": "transport"})),
    (Sinkhorn, {"plan_tol": None}, "plan_tol"), (Sinkhorn, {"plan_tol": 2}, "plan_tol"),
    (Sinkhorn, {"plan_max_iter": 1.5}, "plan_max_iter"), (Sinkhorn, {"plan_max_iter": 0}, "plan_max_iter"),
    *((Sinkhorn, {"schedule": value}, "schedule") for value in (0, -0.1, "slow", math.nan, math.inf, True)),
    (Search, {"ordered": "yes"}, "ordered"), (Search, {"side": ONE}, "side"), (Search, {"side": (ONE,)}, "side"),
    (Search, {"side_weight": 1.0}, "side_weight"), (Search, {"side": (ONE, ONE), "side_weight": 0}, "side_weight"),
    (Search, {"seed_weight": -1}, "seed_weight"), (Search, {"seed_weight": "much"}, "seed_weight"),
    *((Search, {"n_jobs": value}, "n_jobs") for value in (0, -2, 1.5, "two", True)),
]  # fmt: skip


@pytest.mark.parametrize(("group", "options", "argument"), BAD)
def test_a_group_checks_itself_when_it_is_made(group, options, argument):
    """One form: the argument, what was expected, what came."""
    with pytest.raises(InputError, match=rf"^{argument}: expected .+,? got .+"):
        group(**options)


@pytest.mark.parametrize(
    ("group", "options", "remedy"),
    [
        (Schatten, {"p": "inf"}, "pass a number, such as math.inf"),
        (Sinkhorn, {"objective": "transprt"}, "did you mean 'transport'?"),
        (Exact, {"stages": (2000, 9000)}, r"write Stages\(\(2000, 10000\)\)"),
        (Sinkhorn, {"refit": True, "objective": "transport"}, "leave refit=False"),
        (Stages, {"sizes": (9, 3)}, r"such as \(2000, 10000\)"),
        (Stages, {"sizes": 9, "of": "cluster"}, "did you mean 'clusters'?"),
    ],
)
def test_an_error_says_what_to_do(group, options, remedy):
    with pytest.raises(InputError, match=remedy):
        group(**options)


@pytest.mark.parametrize(
    ("group", "options"),
    [(Exact, {"schedule": 0.1}), (Exact, {"plan_tol": 0.1}), (Exact, {"plan_max_iter": 9}), (Rotations, {"p": 2}),
     (Rotations, {"objective": "transport"}), (Sinkhorn, {"polish": True}), (Search, {"n_job": 2})],
)  # fmt: skip
def test_what_has_no_meaning_cannot_be_said(group, options):
    """Options are types: an exact plan has no epsilon, rotations no p, and a misspelt name is Python's own error."""
    with pytest.raises(TypeError, match="unexpected keyword"):
        group(**options)


def test_groups_are_values():
    for group in GROUPS:
        one, other = (group(5) if group is Stages else group() for _ in range(2))
        assert one == other
        assert hash(one) == hash(other)
        with pytest.raises(FrozenInstanceError):
            setattr(one, fields(one)[0].name, 3)
    assert Sinkhorn(tol=1e-3) != Sinkhorn()
    assert "tol=0.001" in repr(Sinkhorn(tol=1e-3))


def test_a_family_of_maps_gives_its_ball():
    assert Schatten(2, radius=3.0).ball == SchattenBall(2.0, 3.0)
    assert Schatten().ball == SchattenBall(math.inf, None)
    assert Rotations(radius=3.0).ball == RotationGroup(3.0)
    assert Rotations().p == math.inf


def test_sizes_of_stages():
    assert Stages(500).as_tuple() == (500,)
    assert Stages([100, 900]).as_tuple() == (100, 900)
    assert Stages(np.array([100, 900])).as_tuple() == (100, 900)
    assert Stages(()).as_tuple() == ()


@pytest.mark.parametrize("schedule", [None, 0.1, 1, np.float32(0.5), Schedule(1.0, 0.9, 0.1)])
def test_kinds_of_schedule(schedule):
    assert Sinkhorn(schedule=schedule).schedule is schedule


def test_every_option_of_the_exact_solver_is_one_of_sinkhorn_with_the_same_default():
    theirs = {one.name: one.default for one in fields(Sinkhorn)}
    for one in fields(Exact):
        assert theirs[one.name] == one.default


def test_the_papers_own_choices():
    options = invarot.paper()
    assert options["solver"] == Sinkhorn(schedule=Schedule(1.0, 0.95, 0.01, absolute=True), plan_max_iter=1000)
    assert {name: options[name] for name in ("p", "start", "n_starts")} == {
        "p": math.inf, "start": "gaussian", "n_starts": 1,
    }  # fmt: skip
    assert invarot.paper(p=2.0, n_starts=20)["n_starts"] == 20
