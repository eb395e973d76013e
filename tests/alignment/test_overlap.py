"""Clouds of which only a part corresponds."""

import importlib

import numpy as np
import pytest

import invarot
from invarot.alignment.overlap import Scales, are_copies, check_overlap, choose_cut, match_on_surfaces, measure_scales
from invarot.alignment.search import partial
from invarot.geometry.surfaces import sample_surface
from invarot.transport import choice

from .clouds import random_turn

TURN = np.linalg.qr(np.random.default_rng(5).normal(size=(3, 3)))[0]


def surface(n, seed=0):
    """Points of a bent sheet without symmetry."""
    rng = np.random.default_rng(seed)
    s, t = rng.uniform(-1, 1, (2, n))
    return np.stack([s, 0.7 * t, 0.4 * np.sin(2.5 * s) + 0.3 * t**2 + 0.2 * s * t], axis=1)


def cut_pair(keep=0.6, n=400, seed=0):
    x = surface(n, seed)
    kept = np.flatnonzero(x @ [1.0, 0.4, 0.2] <= np.quantile(x @ [1.0, 0.4, 0.2], keep))
    kept = np.random.default_rng(seed).permutation(kept)
    return x, x[kept] @ TURN + [1.0, -2.0, 0.5], kept


@pytest.fixture(scope="module")
def cut():
    x, y, kept = cut_pair()
    return x, y, kept, invarot.align(x, y, translate=True, overlap="auto")


def test_a_cut_cloud_is_found_with_its_overlap(cut):
    x, y, kept, result = cut
    np.testing.assert_allclose(result.map, TURN, atol=1e-4)
    np.testing.assert_allclose(result.transform(x[kept]), y, atol=1e-4)
    assert result.overlap == pytest.approx((0.6, 1.0), abs=0.02)
    assert result.verdict.word == "aligned"
    assert "60% of x and 100% of y have a counterpart" in str(result)


def test_points_without_a_counterpart_are_said_so(cut):
    x, _, kept, result = cut
    truth = np.full(len(x), -1)
    truth[kept] = np.arange(len(kept))
    assert np.mean(result.matches() == truth) > 0.99
    assert np.all(result.matches(all=True) >= 0)
    orphans = np.setdiff1d(np.arange(len(x)), kept)
    assert result.matched_x[orphans].mean() < 0.05
    assert result.matched_x[kept].mean() > 0.95
    assert np.all((result.matched_y >= 0) & (result.matched_y <= 1))
    with pytest.raises(invarot.InputError, match="how: expected"):
        result.matches("assignment")


def test_all_mass_matched_is_another_answer(cut):
    x, y, _, result = cut
    whole = invarot.align(x, y, translate=True)
    assert whole.overlap is None
    assert whole.matched_x is None
    assert np.abs(whole.offset - result.offset).max() > 0.05


@pytest.mark.parametrize("overlap", [0.6, (0.6, 1.0)])
def test_given_shares_are_matched(cut, overlap):
    x, y, _, _ = cut
    result = invarot.align(x, y, translate=True, overlap=overlap)
    np.testing.assert_allclose(result.map, TURN, atol=1e-2)
    assert result.overlap == pytest.approx((0.6, 1.0), abs=0.05)


def test_exact_plans_of_a_part():
    pytest.importorskip("ot")
    x, y, kept = cut_pair(0.6, 120)
    result = invarot.align(x, y, translate=True, overlap=0.6, solver=invarot.Exact())
    np.testing.assert_allclose(result.map, TURN, atol=1e-2)
    assert np.mean(result.matches()[kept] == np.arange(len(kept))) > 0.95
    assert result.overlap == pytest.approx((0.6, 1.0), abs=0.02)


def test_the_scale_is_that_of_the_matched_part():
    x, y, _ = cut_pair()
    result = invarot.align(x, 3 * y, translate=True, scale=True, overlap="auto")
    np.testing.assert_allclose(result.map, 3 * TURN, atol=0.02)


def test_the_scale_of_a_surface_sampled_anew():
    x, y = surface(300, 6), surface(300, 7)
    y = 0.4 * (y[y[:, 0] > -0.3] @ TURN) + [1.0, 0.0, 2.0]
    result = invarot.align(x, y, p=invarot.Rotations(), translate=True, scale=True, overlap="auto")
    np.testing.assert_allclose(result.map, 0.4 * TURN, atol=0.02)
    assert result.overlap[0] < 0.85


def test_copies_are_told_from_another_sample():
    x, y = surface(600, 6), surface(600, 7)
    w = np.concatenate([TURN, [[1.0, 0.0, 2.0]]])
    assert are_copies(x, x[200:] @ TURN + w[-1], w)
    assert not are_copies(x, y @ TURN + w[-1], w)
    assert not are_copies(x, x @ TURN + w[-1] + 3, w)


def test_both_sides_may_lack_a_part():
    x = surface(500, 3)
    side = x @ [1.0, 0.3, 0.0]
    left, right = side <= np.quantile(side, 0.75), side >= np.quantile(side, 0.25)
    result = invarot.align(x[left], x[right] @ TURN, translate=True, overlap="auto")
    np.testing.assert_allclose(result.map, TURN, atol=1e-3)
    assert result.overlap == pytest.approx((2 / 3, 2 / 3), abs=0.05)


def test_known_pairs_start_a_partial_solve():
    x, y, kept = cut_pair(0.5, 300, 2)
    pairs = np.stack([kept[:12], np.arange(12)], axis=1)
    result = invarot.align(x, y, translate=True, overlap="auto", seeds=pairs)
    np.testing.assert_allclose(result.map, TURN, atol=1e-2)


def test_clusters_of_which_some_are_missing():
    rng = np.random.default_rng(0)
    centres = 2 * rng.normal(size=(6, 8))
    labels = rng.integers(6, size=300)
    x = centres[labels] + 0.4 * rng.normal(size=(300, 8))
    turn = np.linalg.qr(rng.normal(size=(8, 8)))[0]
    there = np.flatnonzero(labels > 2)
    result = invarot.align(x, x[there] @ turn, translate=True, overlap="auto")
    truth = np.full(300, -1)
    truth[there] = np.arange(len(there))
    assert np.mean(result.matches() == truth) > 0.95


def missing_clusters(seed=0):
    """Clusters in 8 dimensions, of which half are missing, and the rows of x that are left in y."""
    rng = np.random.default_rng(seed)
    centres, labels = 2 * rng.normal(size=(6, 8)), rng.integers(6, size=240)
    x = centres[labels] + 0.4 * rng.normal(size=(240, 8))
    there = np.flatnonzero(labels > 2)
    return x, x[there] @ np.linalg.qr(rng.normal(size=(8, 8)))[0], there


def test_streamed_plans_of_a_part_give_the_dense_answer(monkeypatch):
    x, y, _ = missing_clusters()
    dense = invarot.align(x, y, translate=True, overlap="auto")
    needed = choice.memory_needed
    monkeypatch.setattr(
        choice, "memory_needed", lambda *args, dense, **rest: 2**60 if dense else needed(*args, dense=dense, **rest)
    )
    streamed = invarot.align(x, y, translate=True, overlap="auto")
    assert dense.history[-1].mode != streamed.history[-1].mode
    np.testing.assert_allclose(streamed.map, dense.map, atol=1e-8)
    np.testing.assert_allclose(streamed.matched_x, dense.matched_x, atol=1e-8)
    assert np.array_equal(streamed.matches(), dense.matches())


@pytest.mark.torch
@pytest.mark.parametrize("case", ["clusters", "surface", "share"])
def test_tensors_give_the_answer_of_arrays(case):
    torch = pytest.importorskip("torch")
    x, y, _ = missing_clusters() if case == "clusters" else cut_pair(0.7, 200)
    options = {"translate": True, "overlap": 0.7 if case == "share" else "auto"}
    host = invarot.align(x, y, **options)
    found = invarot.align(torch.as_tensor(x), torch.as_tensor(y), **options)
    np.testing.assert_allclose(found.map.numpy(), host.map, atol=1e-4)
    assert found.overlap == pytest.approx(host.overlap, abs=0.01)
    assert np.mean(found.matches().numpy() == host.matches()) > 0.98


def test_a_batch_that_finds_nothing_better_does_not_end_the_search(monkeypatch):
    x, y, there = missing_clusters(1)
    turn = np.linalg.lstsq(x[there], y, rcond=None)[0]
    rng = np.random.default_rng(2)
    wrong = [np.linalg.qr(rng.normal(size=(8, 8)))[0] for _ in range(3)]
    monkeypatch.setattr(partial, "propose", lambda *_: ((f"batch {k}", w[None]) for k, w in enumerate([*wrong, turn])))
    found = invarot.align(x, y, overlap="auto")
    assert np.mean(found.matches()[there] == np.arange(len(there))) > 0.95
    assert len(found.starts) > 2


@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize(("n", "m"), [(8, 7), (9, 20), (40, 25)])
def test_clouds_of_few_points_of_unlike_number(n, m, d):
    rng = np.random.default_rng(n)
    x, turn = rng.normal(size=(n, d)), np.linalg.qr(rng.normal(size=(d, d)))[0]
    y = np.concatenate([x[:m] @ turn + 1, rng.normal(size=(max(m - n, 0), d))])
    result = invarot.align(x, y, translate=True, overlap="auto")
    assert np.all(np.isfinite(result.map))
    if (n, m, d) == (40, 25, 3):
        np.testing.assert_allclose(result.map, turn, atol=1e-3)


def test_what_is_matched_is_saved(cut, tmp_path):
    *_, result = cut
    result.save(tmp_path / "part")
    again = invarot.load(tmp_path / "part")
    assert again.overlap == result.overlap
    assert np.array_equal(again.matches(), result.matches())
    assert np.array_equal(again.matched_y, result.matched_y)


def test_same_rng_same_answer():
    x, y, _ = cut_pair(0.7, 200, 4)
    first, second = (invarot.align(x, y, translate=True, overlap="auto", rng=3) for _ in range(2))
    assert np.array_equal(first.map, second.map)


def test_weights_of_zero_take_no_part():
    x, y, _ = cut_pair(0.7, 200, 4)
    a = np.full(len(x) + 20, 1 / len(x))
    a[len(x) :] = 0
    strays = np.random.default_rng(0).normal(size=(20, 3))
    result = invarot.align(np.concatenate([x, strays]), y, a=a, translate=True, overlap="auto")
    np.testing.assert_allclose(result.map, TURN, atol=1e-3)
    assert np.all(result.matched_x[len(x) :] == 0)
    assert np.all(result.matches()[len(x) :] == -1)


@pytest.mark.parametrize("wrong", [0.0, -0.2, 1.2, float("nan"), "some", (0.5,), (0.5, 2.0), (0.5, 0.5, 0.5), object()])
def test_wrong_overlap_is_named(wrong):
    x, y, _ = cut_pair(0.7, 60)
    with pytest.raises(invarot.InputError, match="overlap: expected"):
        invarot.align(x, y, overlap=wrong)


@pytest.mark.parametrize(
    "options",
    [
        {"p": 2},
        {"p": invarot.Schatten(whiten=True)},
        {"p": invarot.Schatten(radius=2.0)},
        {"solver": invarot.Sinkhorn(refit=True)},
        {"solver": invarot.Sinkhorn(objective="transport")},
    ],
)
def test_overlap_names_what_it_excludes(options):
    x, y, _ = cut_pair(0.7, 60)
    with pytest.raises(invarot.InputError, match="overlap: expected None with"):
        invarot.align(x, y, overlap="auto", **options)


def test_the_cut_lies_between_residual_and_chance():
    scales = Scales(chance=1.0, neighbour=16e-6)
    residual = np.concatenate([np.full(50, 1e-2), np.full(50, 2.0)])
    assert 1e-2 < choose_cut(residual, residual, scales) <= 16e-2
    assert choose_cut(np.zeros(9), np.zeros(9), scales) == pytest.approx(
        1e-6
    )  # copies: what is nearer than neighbours are
    assert choose_cut(np.full(9, 5.0), np.full(9, 5.0), scales) == 1.0  # nothing is nearer than by chance


def test_chance_and_spacing_are_measured_in_the_units_of_the_clouds():
    x, y = surface(200), surface(200, 1)
    one, ten = (measure_scales(size * x, size * y, np.random.default_rng(0)) for size in (1, 10))
    assert ten.chance == pytest.approx(100 * one.chance)
    assert ten.neighbour == pytest.approx(100 * one.neighbour)
    assert ten.dimensions == pytest.approx(one.dimensions)
    assert one.least < one.neighbour < one.chance


def test_shares_are_those_of_a_border_and_of_uneven_density():
    dense, sparse = surface(1500, 6), surface(200, 7)
    uneven = np.concatenate([dense[dense[:, 0] > 0], sparse[sparse[:, 0] <= 0]])
    other = surface(800, 8)
    kept = other[other[:, 1] > 0]
    identity = np.concatenate([np.eye(3), np.zeros((1, 3))])
    left, right = match_on_surfaces(sample_surface(uneven), sample_surface(kept), identity)
    assert abs(left.mean() - np.mean(uneven[:, 1] > 0)) < 0.05
    assert right.mean() > 0.95
    copies = match_on_surfaces(sample_surface(other), sample_surface(kept), identity)
    assert np.array_equal(copies[0] > 0.5, other[:, 1] > 0)


def test_none_means_all_mass():
    assert check_overlap(None) is None
    assert check_overlap(0.4).x == 0.4
    assert check_overlap([0.4, 1]).y == 1.0


def test_a_failed_balanced_answer_names_overlap():
    x, y, _ = cut_pair(0.6, 150, 1)
    whole = invarot.align(x, y, translate=True)
    assert not whole.verdict
    assert 'overlap="auto"' in str(whole.verdict)
    assert "overlap=" not in str(invarot.align(x, x[::-1] @ TURN).verdict)


def test_options_without_effect_on_a_part_are_named():
    rng = np.random.default_rng(3)
    x = rng.gamma(2.0, size=(120, 3))
    y = x[:80] @ random_turn(3, rng)
    plain = invarot.align(x, y, translate=True, overlap="auto")
    assert plain.notes == ()
    found = invarot.align(x, y, translate=True, overlap="auto", search=invarot.Search(ordered=True, n_jobs=2))
    assert [note.split(",")[0] for note in found.notes] == ["ordered: no effect", "n_jobs: no effect"]
    known = invarot.align(x, y, translate=True, overlap="auto", seeds=[(k, k) for k in range(6)])
    assert any(note.startswith("seeds: a start only") for note in known.notes)
    other = invarot.align(x, y, translate=True, overlap="auto", seeds=[(0, 0)], start="identity")
    assert any(note.startswith("seeds: no effect") for note in other.notes)
    with pytest.raises(invarot.InputError, match=r"seed_weight: expected None with overlap, .* got 2; leave"):
        invarot.align(x, y, overlap="auto", seeds=[(0, 0)], search=invarot.Search(seed_weight=2.0))


@pytest.mark.parametrize(("size", "why"), [(300, "all sizes are at least the 200"), (100, "rigid motions are fitted")])
def test_stages_without_effect_on_a_part_are_named(size, why):
    solver = invarot.Sinkhorn(stages=invarot.Stages(size))
    found = invarot.align(surface(200, 6), surface(160, 7) @ TURN, translate=True, overlap="auto", solver=solver)
    assert [note.partition(",")[0] for note in found.notes] == ["stages: no effect"]
    assert why in found.notes[0]


def test_clouds_that_correspond_in_full_have_one_answer_and_cost_nothing_more(monkeypatch):
    x = surface(150, 6)
    y = x[::-1] @ TURN + [1.0, 0.0, 2.0]
    part = invarot.align(x, y, translate=True, overlap="auto")
    assert part.overlap == pytest.approx((1.0, 1.0), abs=1e-3)
    monkeypatch.setattr(importlib.import_module("invarot.alignment.align"), "search_partial", None)  # not called
    whole = invarot.align(x, y, translate=True)
    np.testing.assert_allclose(part.transform(x), whole.transform(x), atol=1e-3)
    np.testing.assert_array_equal(part.matches(), whole.matches())
    assert whole.overlap is None


def fill_space(n, seed):
    """A cloud that fills space, a turned and shifted copy of 60 % of it, and the turn."""
    rng = np.random.default_rng(seed)
    x, turn = rng.normal(size=(n, 3)), np.linalg.qr(rng.normal(size=(3, 3)))[0]
    side = x @ rng.normal(size=3)
    return x, x[rng.permutation(np.flatnonzero(side <= np.quantile(side, 0.6)))] @ turn + [1, -2, 0.5], turn


def test_copies_that_fill_space_are_found_though_thinned_clouds_share_no_points(monkeypatch):
    x, y, turn = fill_space(2100, 101)
    wrong = np.eye(4)[None, :, :-1]  # as it is with more points
    monkeypatch.setattr(partial, "find_rigid_maps", lambda *_, **__: wrong)
    found = invarot.align(x, y, translate=True, overlap="auto")
    np.testing.assert_allclose(found.map, turn, atol=1e-4)
    assert found.overlap == pytest.approx((0.6, 1.0), abs=0.01)
    assert found.starts[-1].name == "copies"


def test_several_random_starts_of_a_part():
    x, y, kept = missing_clusters()
    turn = np.linalg.lstsq(x[kept], y, rcond=None)[0]
    rng = np.random.default_rng(1)
    starts = np.stack([np.linalg.qr(rng.normal(size=(8, 8)))[0], turn])
    found = invarot.align(x, y, overlap="auto", start=starts)
    np.testing.assert_allclose(found.map, turn, atol=1e-2)
    several = invarot.align(x, y, overlap="auto", n_starts=4)
    assert several.overlap is not None
    assert several.settings["n_starts"] == 4


def test_the_estimator_carries_the_overlap():
    pytest.importorskip("sklearn")
    x, y, kept = missing_clusters()
    fitted = invarot.InvariantAligner(overlap="auto", translate=True).fit(x, y)
    assert fitted.alignment_.overlap == pytest.approx((len(kept) / len(x), 1.0), abs=0.02)
    np.testing.assert_allclose(fitted.transform(x[kept]), y, atol=1e-2)


def test_the_overlap_of_curves_in_the_plane_is_estimated():
    """Points strewn on a curve lie much nearer to each other in places than on a surface."""
    rng = np.random.default_rng(3)

    def curve(n):
        turn = rng.uniform(0, 2 * np.pi, n)
        radius = 1 + 0.3 * np.sin(3 * turn + 0.4) + 0.2 * np.cos(5 * turn)
        return np.column_stack([radius * np.cos(turn), 0.7 * radius * np.sin(turn)])

    x, y = curve(600), curve(600)
    kept = y @ [0.6, 0.8] > -0.2
    left, right = match_on_surfaces(sample_surface(x), sample_surface(y[kept]), np.eye(3)[:, :2])
    assert left.mean() == pytest.approx(kept.mean(), abs=0.06)
    assert right.mean() > 0.95
