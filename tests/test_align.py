"""The front door: known answers, every option, every refusal."""

import inspect
import math
from dataclasses import fields, replace

import numpy as np
import ot
import pytest
from scipy.optimize import linear_sum_assignment

import invarot
from invarot import Exact, InputError, Rotations, Schatten, Schedule, Search, Sinkhorn, Stages
from invarot.transport.choice import memory_needed

rng0 = np.random.default_rng


def turn(d, seed=0, proper=None):
    q = np.linalg.qr(rng0(seed).standard_normal((d, d)))[0]
    if proper is not None and (np.linalg.det(q) > 0) != proper:
        q[:, 0] *= -1
    return q


def twins(n=60, d=3, seed=0, proper=None):
    """x, y and the row of y that each row of x is; y is x turned and shuffled."""
    rng = rng0(seed)
    x = rng.gamma(2.0, size=(n, d)) * np.linspace(2, 1, d)
    x -= x.mean(0)
    match = rng.permutation(n)
    y = np.empty_like(x)
    w = turn(d, seed + 1, proper)
    y[match] = x @ w
    return x, y, w, match


# -- known answers ---------------------------------------------------------------------------------------------------


def test_turned_and_permuted(lib):
    x, y, w, match = twins()
    result = invarot.align(lib.array(x), lib.array(y))
    assert lib.owns(result.map)
    assert lib.owns(result.plan.dense())
    np.testing.assert_allclose(lib.numpy(result.map), w, atol=1e-3)
    np.testing.assert_array_equal(lib.numpy(result.matches()), match)
    np.testing.assert_array_equal(lib.numpy(result.matches("nearest")), match)
    np.testing.assert_allclose(lib.numpy(result.transform(lib.array(x))), y[match], atol=1e-2)
    np.testing.assert_allclose(lib.numpy(result.inverse_transform(result.transform(lib.array(x)))), x, atol=1e-8)
    assert result.status is invarot.Status.SETTLED
    assert "verdict" in str(result)
    assert repr(result) == str(result)  # what a notebook shows


@pytest.mark.parametrize("whiten", [False, True])
def test_shifted_and_scaled(whiten):
    x, y, w, match = twins()
    moved = 7.5 * y + [3.0, -20.0, 11.0]
    result = invarot.align(x + 4.0, moved, translate=True, scale=True, p=Schatten(whiten=whiten))
    np.testing.assert_array_equal(result.matches(), match)
    np.testing.assert_allclose(result.transform(x + 4.0), moved[match], atol=0.1)
    np.testing.assert_allclose(result.map, 7.5 * w, atol=0.02)
    np.testing.assert_allclose(result.inverse_transform(moved[match]), x + 4.0, atol=0.05)


def test_options_that_undo_what_was_done():
    """Without translate or scale the shift and the scale stay: each option changes the outcome."""
    x, y, _, match = twins()
    moved = 2.0 * y + [3.0, -5.0, 4.0]
    gaps = {}
    cases = {"none": {}, "translate": {"translate": True}, "both": {"translate": True, "scale": True}}
    for name, options in cases.items():
        result = invarot.align(x, moved, start="signature", **options)
        gaps[name] = np.linalg.norm(result.transform(x) - moved[match])
    assert gaps["both"] < 0.1 < gaps["translate"] < gaps["none"]


@pytest.mark.parametrize(("dx", "dy"), [(3, 5), (5, 3)])
def test_rectangular_embeddings(dx, dy):
    core, _, _, _ = twins()
    left, right = turn(dx)[:, :3], turn(dy, 1)[:, :3]
    match = rng0(0).permutation(60)
    x, y = core @ left.T, np.empty((60, dy))
    y[match] = core @ right.T
    result = invarot.align(x, y)
    assert result.map.shape == (dx, dy)
    np.testing.assert_array_equal(result.matches(), match)
    np.testing.assert_allclose(result.transform(x), y[match], atol=1e-2)
    np.testing.assert_allclose(result.spectrum(), np.ones(3), atol=1e-6)


def test_diracs():
    """A cloud that is one point: the plan is the product, and translation carries one onto the other."""
    x, y = np.full((3, 2), 2.0), np.full((4, 2), -1.0)
    b = np.asarray([0.1, 0.2, 0.3, 0.4])
    result = invarot.align(x, y, b=b, translate=True)
    np.testing.assert_allclose(result.plan.dense(), np.full((3, 1), 1 / 3) * b, atol=1e-6)
    np.testing.assert_allclose(result.transform(x), np.full((3, 2), -1.0), atol=1e-10)
    one = invarot.align(rng0(0).standard_normal((5, 2)), rng0(1).standard_normal((4, 2)), a=[0, 0, 1, 0, 0], b=b)
    np.testing.assert_allclose(one.plan.dense()[2], b, atol=1e-6)
    assert one.plan.dense()[[0, 1, 3, 4]].sum() == 0


@pytest.mark.parametrize("solver", [Sinkhorn(), Exact()])
def test_weights_that_force_the_plan(solver):
    """Weights that are powers of two, on a line: only one coupling of the matched points is free of cost."""
    x = np.asarray([[0.0, 0], [1, 0], [3, 0], [7, 1]])
    a = np.asarray([8, 4, 2, 1]) / 15
    result = invarot.align(x, x[::-1], a=a, b=a[::-1], solver=solver, start="identity")
    np.testing.assert_allclose(result.plan.dense(), np.diag(a)[:, ::-1], atol=1e-3)


def test_proper_rotations_refuse_a_reflection():
    x, y, w, match = twins(proper=False)
    free = invarot.align(x, y)
    np.testing.assert_allclose(free.map, w, atol=1e-3)
    proper = invarot.align(x, y, p=Rotations())
    assert np.linalg.det(proper.map) == pytest.approx(1)
    assert (proper.matches() == match).mean() < 1
    x, y, w, _ = twins(proper=True)
    np.testing.assert_allclose(invarot.align(x, y, p=Rotations()).map, w, atol=1e-3)


@pytest.mark.parametrize("seed", [0, 1, 2, 5])
def test_a_proper_rotation_is_not_called_aligned_where_a_reflection_fits(seed):
    rng = rng0(seed)
    x = rng.gamma(2.0, size=(60, 3)) - 2
    y = (x @ turn(3, seed, proper=False))[rng.permutation(60)]
    wrong, right = (invarot.align(x, target, p=Rotations()).verdict for target in (y, y * [-1, 1, 1]))
    assert right.word == "aligned"
    assert wrong.word != "aligned"


def test_the_papers_synthetic_case():
    """A cloud in R³ and a random orthogonal map: transport alone cannot see through the rotation."""
    x, y, _, match = twins(100, seed=3)
    result = invarot.align(x, y, p=math.inf, start="random", n_starts=20)
    assert (result.matches() == match).mean() > 0.99
    cost = ot.dist(x, y)
    uniform = np.full(100, 0.01)
    assert (linear_sum_assignment(cost)[1] == match).mean() < 0.3
    assert (ot.sinkhorn(uniform, uniform, cost, 0.05 * cost.mean()).argmax(1) == match).mean() < 0.3
    assert len(result.starts) == 20
    objectives = [start.objective for start in result.starts]
    solved = next(step for step in reversed(result.history) if step.stage == "solve")
    assert max(objectives) == solved.objective < result.objective  # which has been sharpened since
    assert min(objectives) < 0.99 * max(objectives)
    assert {start.name for start in result.starts} == {"random"}


def test_paper_preset():
    options = invarot.paper()
    assert options["solver"].schedule == Schedule(1.0, 0.95, 0.01, absolute=True)
    x, y, _, match = twins(40, seed=3)
    result = invarot.align(x, y, **{**options, "n_starts": 20})
    assert result.history["epsilon"][:3] == pytest.approx([1, 0.95, 0.9025])
    assert result.history["epsilon"][-1] == 0.01
    with pytest.raises(InputError, match=r"history: expected one of .*, got 'epsilom'; did you mean 'epsilon'"):
        result.history["epsilom"]
    assert (result.matches("plan") == match).mean() > 0.9
    assert {start.name for start in result.starts} == {"gaussian"}


def test_simplified_and_transport_differ_on_the_ball():
    rng = np.random.default_rng(0)
    x = rng.gamma(2.0, size=(60, 3))
    x -= x.mean(axis=0)
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    y = 0.5 * x @ turn + 0.02 * rng.normal(size=x.shape)
    spectra = [
        invarot.align(x, y, start=turn, solver=Sinkhorn(objective=objective)).spectrum()
        for objective in ("simplified", "transport")
    ]
    np.testing.assert_allclose(spectra[0], 1)
    np.testing.assert_allclose(spectra[1], 0.5, atol=0.02)


# -- arrays of every kind --------------------------------------------------------------------------------------------


@pytest.mark.torch
def test_numpy_and_torch_agree():
    torch = pytest.importorskip("torch")
    x, y, _, _ = twins(40)
    y = y + 0.1 * rng0(3).standard_normal(y.shape)
    a = rng0(1).uniform(0.5, 1, 40)
    solver = Sinkhorn(schedule=0.5, max_iter=20, tol=1e-3)
    costs = replace(solver, objective="transport")
    for options in ({}, {"p": 1.5}, {"p": 2.0, "solver": costs}, {"translate": True, "scale": True}):
        options = {"start": "random", "n_starts": 2, "solver": solver, **options}
        ours = invarot.align(x, y, a=a / a.sum(), **options)
        theirs = invarot.align(torch.as_tensor(x), torch.as_tensor(y), a=a / a.sum(), **options)
        np.testing.assert_allclose(theirs.map.numpy(), ours.map, atol=1e-10)
        np.testing.assert_allclose(theirs.plan.dense().numpy(), ours.plan.dense(), atol=1e-10)
        assert theirs.objective == pytest.approx(ours.objective, rel=1e-10)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("spread", [1.0, 1e-8, 1e8])
def test_units_do_not_matter(lib, dtype, spread):
    x, y, w, match = twins(40)
    result = invarot.align(lib.array(x * spread, dtype), lib.array(y * spread, dtype))
    assert lib.numpy(result.map).dtype == dtype
    np.testing.assert_allclose(lib.numpy(result.map), w, atol=1e-2)
    np.testing.assert_array_equal(lib.numpy(result.matches()), match)


@pytest.mark.filterwarnings("ignore::invarot.NotConverged")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_finite_at_a_tiny_epsilon(lib, dtype):
    x, y, _, _ = twins(40)
    y = y[:30] + 0.3 * rng0(0).standard_normal((30, 3))
    with np.errstate(invalid="raise", over="raise", divide="raise"):
        solver = Sinkhorn(schedule=1e-4, max_iter=20)
        result = invarot.align(lib.array(x, dtype), lib.array(y, dtype), solver=solver, start="random")
    for part in (result.map, result.plan.dense(), result.plan.u, result.plan.v):
        assert np.isfinite(lib.numpy(part)).all()
    assert np.isfinite([result.objective, *result.history["energy"], result.plan.cost(), result.plan.entropy()]).all()
    assert lib.numpy(result.plan.dense()).sum() == pytest.approx(1, abs=0.01)


def test_lists_frames_halves_integers_and_views():
    x, y, _, _ = twins(40)
    x, y = np.round(20 * x), np.round(20 * y)
    expected = invarot.align(x, y, start="signature")
    wide = np.repeat(np.repeat(x, 2, axis=0), 2, axis=1)
    views = [(x.tolist(), y.tolist()), (x.astype(int), y.astype(int)), (wide[::2, ::2], np.asfortranarray(y))]
    pandas = pytest.importorskip("pandas")
    views.append((pandas.DataFrame(x), pandas.DataFrame(y)))
    for left, right in views:
        result = invarot.align(left, right, start="signature")
        np.testing.assert_allclose(result.map, expected.map, atol=1e-12)
    half = invarot.align(x.astype(np.float16), y.astype(np.float16), start="signature")
    assert half.map.dtype == np.float32
    np.testing.assert_allclose(half.map, expected.map, atol=1e-2)
    mixed = invarot.align(x.astype(np.float32), y, start="signature")
    assert mixed.map.dtype == np.float64


@pytest.mark.parametrize("solver", [Sinkhorn(), Exact()])
def test_points_of_no_weight(solver):
    """They are as if they were not there, but still get a match; seeds and side information keep their rows."""
    x, y, w, match = twins(40)
    a, b = np.full(40, 1 / 36), np.full(40, 1 / 36)
    a[:4] = 0
    b[match[:4]] = 0
    seeds = np.stack([np.arange(10, 20), match[10:20]], axis=1)
    side = (x[:, 0] * 0 + np.arange(40), np.argsort(match))
    known = {"search": Search(side=side), "start": "signature"}
    for options in ({"seeds": seeds, "start": "seeds"}, known, {"seeds": seeds}):
        result = invarot.align(x, y, a=a, b=b, solver=solver, **options)
        dense = result.plan.dense()
        assert dense[:4].sum() == 0
        assert dense[:, match[:4]].sum() == 0
        np.testing.assert_allclose(dense.sum(1), a, atol=1e-3)
        np.testing.assert_array_equal(result.matches()[4:], match[4:])
        assert (result.matches()[:4] >= 0).all()
        np.testing.assert_allclose(result.map, w, atol=1e-3)
    alone = invarot.align(x[4:], np.delete(y, match[:4], axis=0), solver=solver, start="identity")
    again = invarot.align(x, y, a=a, b=b, solver=solver, start="identity")
    np.testing.assert_allclose(again.map, alone.map, atol=1e-10)


def test_different_sizes():
    x, y, w, _ = twins(60)
    result = invarot.align(x[:45], y)
    np.testing.assert_allclose(result.map, w, atol=0.2)
    assert result.plan.dense().shape == (45, 60)


def test_same_rng_same_bits():
    x, y, _, _ = twins(25)
    y = y + 0.2 * rng0(3).standard_normal(y.shape)
    for options in ({"start": "random", "n_starts": 4}, {}):
        first, second = (invarot.align(x, y, rng=5, **options) for _ in range(2))
        assert first.map.tobytes() == second.map.tobytes()
        assert first.plan.v.tobytes() == second.plan.v.tobytes()
    other = invarot.align(x, y, rng=6, start="random", n_starts=4)
    assert [s.objective for s in other.starts] != [s.objective for s in invarot.align(
        x, y, rng=5, start="random", n_starts=4).starts]  # fmt: skip
    generator = invarot.align(x, y, rng=np.random.default_rng(6), start="random", n_starts=4)
    assert generator.map.tobytes() == other.map.tobytes()


def test_same_bits_on_two_threads(monkeypatch):
    import invarot.threads
    import invarot.transport.cost

    x, y = rng0(0).standard_normal((300, 3)), rng0(1).standard_normal((250, 3))
    monkeypatch.setattr(invarot.transport.cost, "NUMPY_BLOCK", 1)  # several blocks
    found = []
    for count in (1, 2, 2):
        monkeypatch.setattr(invarot.threads, "workers", lambda count=count: count)
        found.append(invarot.align(x, y, start="random", solver=Sinkhorn(schedule=0.2)))
    assert found[1].map.tobytes() == found[2].map.tobytes()
    np.testing.assert_allclose(found[0].map, found[1].map, atol=1e-12)


# -- options ---------------------------------------------------------------------------------------------------------

X, Y = rng0(0).standard_normal((10, 3)), rng0(1).standard_normal((12, 2))
FIXED = Sinkhorn(schedule=0.2)
SOLVERS = [
    {"schedule": 0.5}, {"schedule": Schedule(0.5, 0.5, 0.2)}, {"tol": 1e-2}, {"max_iter": 2}, {"plan_tol": 1e-1},
    {"plan_max_iter": 2}, {"objective": "transport"}, {"refit": True}, {"stages": Stages(10)},
    {"stages": Stages(10, of="clusters")},
]  # fmt: skip
OPTIONS = [
    {"a": np.arange(1, 31) / 465}, {"b": np.arange(1, 41) / 820}, {"p": 2.0}, {"p": Schatten(radius=0.5)},
    {"p": Schatten(whiten=True)}, {"p": Rotations()}, {"translate": True}, {"scale": True},
    {"seeds": [(0, 0), (1, 1), (2, 2)]}, {"start": "identity"}, {"start": "axes"}, {"start": "clusters"},
    {"start": "relaxation"}, {"start": "signature"}, {"start": "fused"}, {"start": "auto"}, {"n_starts": 5}, {"rng": 1}, {"overlap": 0.5},
    {"solver": Exact()}, *({"solver": replace(FIXED, **change)} for change in SOLVERS),
]  # fmt: skip


def outcome(**options):
    """All that an option may change: the map, and how the solve went there."""
    x, y = rng0(0).standard_normal((30, 3)), rng0(1).standard_normal((40, 3)) + 0.5
    result = invarot.align(x, y, **{"start": "random", "solver": FIXED, **options})
    return result.map.tobytes(), result.history["inner_iterations"], result.history["mode"], result.history["stage"]


@pytest.mark.filterwarnings("ignore::invarot.NotConverged")
@pytest.mark.parametrize(
    "option", OPTIONS, ids=lambda option: "-".join(f"{key}={value!s:.60}" for key, value in option.items())
)
def test_every_option_changes_the_outcome(option):
    assert outcome(**option) != outcome()


def test_every_option_is_tested():
    """In the list above, or in one of the tests that follow (the names after it)."""
    tried = {name for option in OPTIONS for name in option}
    named = set(inspect.signature(invarot.align).parameters) - {"x", "y"}
    assert named - tried == {"effort", "require", "device", "on_step", "search", "ranks"}
    assert {one.name for one in fields(Sinkhorn)} == {"memory", *(name for change in SOLVERS for name in change)}
    assert {one.name for one in fields(Search)} == {"ordered", "side", "side_weight", "seed_weight", "n_jobs"}


def test_options_of_ranks_need_a_group():
    x, y, _, _ = twins(20)
    assert np.array_equal(invarot.align(x, y, group=None, start="axes").map, invarot.align(x, y, start="axes").map)
    for name, value in (("cut_y", True), ("checkpoint", "state.npz")):
        with pytest.raises(InputError, match=f"{name}: expected together with group"):
            invarot.align(x, y, **{name: value})


def test_options_of_the_exact_solver_change_the_outcome():
    x, y, _, _ = twins(40)
    y = y + 0.4 * rng0(3).standard_normal(y.shape)
    base = invarot.align(x, y, start="random", solver=Exact())
    with pytest.warns(invarot.NotConverged):
        short = invarot.align(x, y, start="random", solver=Exact(max_iter=2))
    assert len(short.history) == 2 < len(base.history)
    loose = invarot.align(x, y, start="random", solver=Exact(tol=0.1))
    assert len(loose.history) < len(base.history)
    costs = invarot.align(x, y, p=2, start="random", solver=Exact(objective="transport"))
    assert costs.objective == pytest.approx(costs.plan.cost(), rel=1e-3)
    refitted = invarot.align(x, y, start="random", solver=Exact(refit=True))
    assert refitted.history[-1].stage == "refit"
    with pytest.raises(invarot.MemoryBound):
        invarot.align(x, y, start="random", solver=Exact(memory=100))


def test_memory_decides_between_dense_and_streamed():
    x, y = rng0(0).standard_normal((30, 3)), rng0(1).standard_normal((40, 3))
    dense, streamed = (memory_needed(x[None], y, dense=flag) for flag in (True, False))
    modes = [
        invarot.align(x, y, start="random", solver=replace(FIXED, memory=bound)).history[-1].mode
        for bound in (dense, (dense + streamed) // 2)
    ]
    assert modes == ["dense", "streamed"]
    with pytest.raises(invarot.MemoryBound, match="raise memory="):
        invarot.align(x, y, start="random", solver=replace(FIXED, memory=streamed // 2))


def test_seed_weight_changes_the_outcome():
    x, y = rng0(0).standard_normal((30, 3)), rng0(1).standard_normal((40, 3))
    options = {"seeds": [(0, 0)], "start": "random", "solver": FIXED}
    without = invarot.align(x, y, start="random", solver=FIXED).map
    maps = [without, *(invarot.align(x, y, search=Search(seed_weight=w), **options).map for w in (1.0, 100.0))]
    assert not np.allclose(maps[0], maps[1])
    from_pairs = [invarot.align(x, y, seeds=[(0, 0)], search=Search(seed_weight=w), start="seeds") for w in (0.0, 1.0)]
    assert not np.allclose(*(one.map for one in from_pairs))
    # by default the pair weighs 1 while a map is sought, then as much as one of the 40 points
    light = invarot.align(x, y, search=Search(seed_weight=1 / 40), start=maps[1], seeds=[(0, 0)], solver=FIXED).map
    np.testing.assert_allclose(invarot.align(x, y, **options).map, light, atol=1e-3)
    pulled = [float(x[0] @ w @ y[0]) for w in maps]
    assert pulled[2] == pytest.approx(np.linalg.norm(x[0]) * np.linalg.norm(y[0]), rel=1e-3)


def test_side_and_its_weight_change_the_outcome():
    x, y = rng0(0).standard_normal((30, 3)), rng0(1).standard_normal((30, 3))
    side = (np.arange(30.0), np.arange(30.0))
    searches = [Search(), Search(side=side), Search(side=side, side_weight=100.0)]
    options = {"start": "signature", "solver": Sinkhorn(schedule=1.0)}
    energies = [invarot.align(x, y, search=search, **options).history[0].energy for search in searches]
    assert len({round(value, 9) for value in energies}) == 3


def test_effort_and_require():
    rng = rng0(0)
    x, y = rng.standard_normal((40, 5)), rng.gamma(1.0, size=(30, 6))  # nothing to find
    quick, high = (invarot.align(x, y, effort=effort, solver=Sinkhorn(schedule=0.1)) for effort in ("quick", "normal"))
    assert len(high.starts) > len(quick.starts)
    assert quick.verdict.word != "aligned"
    with pytest.raises(invarot.NotAligned, match=r'require="aligned"') as caught:
        invarot.align(x, y, require="aligned", effort="quick", solver=Sinkhorn(schedule=0.3))
    assert caught.value.result.map.shape == (5, 6)
    x, y, _, _ = twins()
    assert invarot.align(x, y, require="aligned").verdict


def test_ordered_takes_the_first_rows():
    """Rows in an order that means something: stages see the first of them, whatever the rng."""
    x, y, _, _ = twins(40)
    solver = Sinkhorn(schedule=0.1, stages=Stages(15))
    first = {
        (flag, seed): invarot.align(
            x, y, search=Search(ordered=flag), start="identity", solver=solver, rng=seed
        ).history[0].energy
        for flag in (True, False)
        for seed in (0, 1)
    }  # fmt: skip
    assert first[True, 0] == first[True, 1]
    assert len(set(first.values())) == 3


def test_a_given_start_is_in_the_users_coordinates():
    """The answer, handed back as the start, is where the solve stays: also through whitening and scale."""
    x, y, _, _ = twins(40)
    moved = 3 * y + 1
    white, solver = Schatten(whiten=True), Sinkhorn(schedule=0.1, plan_tol=1e-4, plan_max_iter=500)
    for options in ({}, {"scale": True}, {"p": white}, {"p": white, "scale": True}):
        options = {"translate": True, "solver": solver, **options}
        first = invarot.align(x, moved, start="signature", **options)
        again = invarot.align(x, moved, start=first.map, **options)
        assert again.history[0].map_change < 0.01
        np.testing.assert_allclose(again.map, first.map, atol=0.02)


@pytest.mark.parametrize("p", [1.0, 1.5, 2.0, 4.0, math.inf])
@pytest.mark.parametrize("objective", ["simplified", "transport"])
def test_maps_are_in_their_ball(p, objective):
    x, y = rng0(0).standard_normal((30, 4)), 5 * rng0(1).standard_normal((20, 3))
    for radius in (None, 0.4):
        solver = Sinkhorn(objective=objective, schedule=0.3, tol=1e-3)
        result = invarot.align(x, y, p=Schatten(p, radius), start="random", solver=solver)
        size = radius or (1 if math.isinf(p) else 3 ** (1 / p))
        s = result.spectrum()
        norm = s.max() if math.isinf(p) else (s**p).sum() ** (1 / p)
        assert norm <= size * (1 + 1e-8)
        if objective == "simplified":
            assert norm == pytest.approx(size)


def test_whitening_and_p2_solve_the_same_problem_as_the_formula():
    """Whitened clouds: the map in the user's coordinates whitens, maps and unwhitens."""
    x, y, w, match = twins(60)
    result = invarot.align(x @ np.diag([5, 1, 0.2]), y, p=Schatten(whiten=True))
    np.testing.assert_array_equal(result.matches(), match)
    np.testing.assert_allclose(np.diag([5, 1, 0.2]) @ result.map, w, atol=0.02)


# -- status ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "status", "advice"),
    [({"max_iter": 2, "plan_max_iter": 3000}, "NOT_SETTLED", "raise max_iter"),
     ({"plan_max_iter": 1, "plan_tol": 1e-9, "max_iter": 5}, "MARGINALS", "plan_max_iter")],
)  # fmt: skip
def test_a_run_that_has_not_settled_warns_once(options, status, advice):
    x, y, _, _ = twins()
    with pytest.warns(invarot.NotConverged, match=advice) as caught:
        result = invarot.align(x, y, start="random", solver=Sinkhorn(schedule=0.1, **options))
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert result.status is invarot.Status[status]
    assert result.status.value.endswith(".")


# -- refusals --------------------------------------------------------------------------------------------------------

ONES = np.ones(10), np.ones(12)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"a": np.ones(10)}, "a: .*pass a / a.sum"), ({"b": np.ones(3) / 3}, "b: "), ({"a": -np.ones(10) / 10}, "a: "),
        ({"b": np.zeros(12)}, "b: .*leave b=None"),
        ({"p": 0.5}, "p: "), ({"p": math.nan}, "p: "), ({"p": "inf"}, "p: .*math.inf"), ({"p": None}, "p: "),
        ({"translate": 1}, "translate: expected True or False"), ({"scale": "yes"}, "scale: "),
        ({"start": "sginature"}, "start: .*signature"), ({"start": np.eye(3)}, r"start: .*\(3, 2\)"),
        ({"start": None}, "start: "), ({"n_starts": 0}, "n_starts: "), ({"n_starts": 3, "start": "axes"}, "n_starts: "),
        ({"start": "seeds"}, "seeds: "), ({"seeds": [(0, 50)]}, "seeds: "), ({"seeds": [0, 1]}, "seeds: "),
        ({"search": Search(side=(np.ones(10), np.ones(3)))}, "side: .*fy"),
        ({"search": Search(side=ONES), "start": "random"}, "side: "),
        ({"search": Search(seed_weight=2.0)}, "seed_weight: expected together with seeds"),
        ({"effort": "high", "start": "axes"}, "effort: "), ({"effort": "high", "n_starts": 3}, "effort: "),
        ({"effort": "extreme"}, "effort: "), ({"require": "perfect"}, "require: "),
        ({"rng": -1}, "rng: "), ({"rng": "seed"}, "rng: "), ({"on_step": 3}, "on_step: expected a function"),
        ({"p": Rotations()}, "p: expected as many columns"), ({"scale": True, "p": 2.0}, "scale: .*set radius"),
        ({"scale": True, "p": Schatten(radius=2.0)}, "radius: .*leave one of them out"),
        ({"scale": True, "solver": Sinkhorn(objective="transport")}, "scale: "),
        ({"solver": "exact"}, r"solver: expected Sinkhorn\(...\) or Exact\(...\), got 'exact'"),
        ({"solver": Schedule()}, "solver: expected"), ({"search": "wide"}, r"search: expected Search\(...\), got 'wide'"),
    ],
    ids=lambda value: value[:25] if isinstance(value, str) else "-".join(value),
)  # fmt: skip
def test_bad_options(options, message):
    steps = []
    with pytest.raises(InputError, match=f"^{message}"):
        invarot.align(X, Y, **{"on_step": steps.append, **options})
    assert not steps  # nothing ran


@pytest.mark.parametrize(
    "option",
    ["epsilon", "n_start", "scedule", "schedule", "plan", "radius", "whiten", "proper", "polish", "tol", "ordered"],
)
def test_an_option_that_there_is_not_is_a_type_error(option):
    with pytest.raises(TypeError, match=f"unexpected keyword argument '{option}'"):
        invarot.align(X, Y, **{option: 1})


@pytest.mark.parametrize(
    ("x", "y", "name"),
    [(X * np.nan, Y, "x: "), (X, Y + np.inf, "y: "), (X[:0], Y, "x: "), (X, Y[:1], "y: "), (X[0], Y, "x: "),
     (X, np.full_like(Y, "a", dtype=object), "y: "), (X + 1j, Y, "x: "), (X * 1e80, Y, "x: .*divide x by"),
     (np.float32(X), np.float32(Y * 1e-11), "y: .*float64"), (np.zeros((4, 2)), Y * 1e-90, "y: ")],
)  # fmt: skip
def test_bad_points(x, y, name):
    with pytest.raises(InputError, match=f"^{name}"):
        invarot.align(x, y)


@pytest.mark.torch
def test_libraries_do_not_mix():
    torch = pytest.importorskip("torch")
    with pytest.raises(InputError, match="x and y"):
        invarot.align(X, torch.as_tensor(Y))


def test_nearly_symmetric_clouds_are_told_apart_by_either_objective():
    x, y, _, match = twins(60, 2, seed=4)
    x[30:] = x[:30] * [1, -1] + 0.15 * rng0(6).standard_normal((30, 2))  # the mirror image of the others, nearly
    y[match] = x @ turn(2, 5)
    for objective in ("simplified", "transport"):
        result = invarot.align(x, y, solver=Sinkhorn(objective=objective))
        assert np.mean(result.matches() == match) == 1
        assert result.verdict.word == "aligned", objective


def test_options_are_keyword_only():
    with pytest.raises(TypeError):
        invarot.align(X, Y, None)


def test_matches_tell_apart_what_the_plan_blurs():
    """Two points far closer than epsilon: the plan's rows cannot choose between them, the assignment can."""
    x = np.concatenate([rng0(3).gamma(2.0, size=(30, 2)), [[3.0, 3.0], [3.0, 3.0 + 1e-6]]])
    result = invarot.align(x, x[::-1], solver=Sinkhorn(schedule=0.02))
    truth = np.arange(32)[::-1]
    np.testing.assert_array_equal(result.matches(), truth)
    np.testing.assert_array_equal(result.matches("assignment"), truth)
    assert not np.array_equal(result.matches("plan"), truth)
    with pytest.raises(InputError, match='as many points on both sides for "assignment"'):
        invarot.align(x, x[1:], solver=Sinkhorn(schedule=0.02)).matches("assignment")


def test_every_part_draws_from_the_one_generator():
    """Search, stages and evidence: a generator that has moved on gives another answer, the same one the same."""
    x, y, _, _ = twins(60)
    y = y + 0.5 * rng0(3).standard_normal(y.shape)
    solver = Sinkhorn(schedule=0.1, stages=Stages(20))
    generator = rng0(7)
    first, moved, again = (
        invarot.align(x, y, n_starts=3, solver=solver, rng=rng) for rng in (generator, generator, rng0(7))
    )
    assert first.map.tobytes() == again.map.tobytes()
    assert first.verdict == again.verdict
    assert [one.objective for one in first.starts] != [one.objective for one in moved.starts]


def test_transform_checks_its_points():
    result = invarot.align(X, Y, start="identity", solver=Sinkhorn(schedule=0.5))
    assert result.transform([[1, 2, 3]]).shape == (1, 2)
    with pytest.raises(InputError, match="3 columns"):
        result.transform(Y)
    with pytest.raises(InputError, match="NaN"):
        result.transform(X[:1] * np.nan)
    with pytest.raises(InputError, match="how"):
        result.matches("best")


def test_a_device_is_a_place_for_numpy_points():
    x = np.random.default_rng(1).gamma(2.0, size=(60, 3))
    y = np.ascontiguousarray(x[::-1])
    assert np.array_equal(invarot.align(x, y, device="cpu").map, invarot.align(x, y).map)
    with pytest.raises(InputError, match=r"device: expected .auto., .cpu., .cuda."):
        invarot.align(x, y, device="tpu")
    mesh = type("DeviceMesh", (), {"__module__": "torch.distributed.device_mesh"})()
    with pytest.raises(InputError, match=r"one device, got a DeviceMesh .*invarot\.distributed\.align"):
        invarot.align(x, y, device=mesh)


def test_cuda_where_there_is_none_names_the_remedy():
    torch = pytest.importorskip("torch")
    x = np.random.default_rng(1).gamma(2.0, size=(60, 3))
    y = np.ascontiguousarray(x[::-1])
    with pytest.raises(InputError, match="tensors, which are solved where they are"):
        invarot.align(torch.from_numpy(x), torch.from_numpy(y), device="cuda")
    if not torch.cuda.is_available():
        with pytest.raises(InputError, match='use device="cpu"'):
            invarot.align(x, y, device="cuda")
        assert isinstance(invarot.align(x, y, device="auto").map, np.ndarray)


def test_a_cloud_without_extent_is_never_aligned():
    """Any map fits a single place."""
    x = rng0(0).gamma(2.0, size=(40, 3))
    for options in ({"translate": True}, {"translate": True, "scale": True}, {}):
        verdict = invarot.align(np.zeros((30, 3)), x, **options).verdict
        assert (verdict.word, verdict.probability) == ("failed", 0.0), options
        assert verdict.reasons == ("x: all points are the same, which any map fits",)


def test_a_refit_does_not_settle_a_solve_that_did_not():
    x = rng0(0).gamma(2.0, size=(60, 3))
    with pytest.warns(invarot.NotConverged):
        result = invarot.align(x, x @ turn(3, 0), start="random", solver=Sinkhorn(max_iter=1, refit=True))
    assert result.status is not invarot.Status.SETTLED


def test_stages_need_points_enough_for_a_map():
    x = rng0(0).gamma(2.0, size=(60, 3))
    with pytest.raises(InputError, match=r"^stages: expected sizes of at least 6, two points per dimension, got"):
        invarot.align(x, x, solver=Sinkhorn(stages=Stages(5)))
