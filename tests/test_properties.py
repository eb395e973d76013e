"""Properties that hold for any input, tried on input that hypothesis makes; INVAROT_PROFILE=long tries many times more."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import invarot
from invarot.errors import InputError
from invarot.folders import ALIGNMENT
from invarot.words import read_vectors, write_vectors

from .fuzz import aligns, saved_files, store_files, vector_files

TIMES = {"short": 1, "long": 100}[os.environ.get("INVAROT_PROFILE", "short")]


def tried(times: int) -> settings:
    """So many examples, always the same ones: a test does not fail by chance."""
    quiet = (HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large)
    return settings(
        max_examples=times * TIMES, deadline=None, derandomize=True, database=None, suppress_health_check=quiet
    )


# -- reading and writing vectors -------------------------------------------------------------------------------------


@tried(100)
@given(st.randoms())
def test_any_file_is_read_or_refused(tmp_path, rng):
    assert vector_files.try_file(rng, tmp_path).removeprefix("cloud ") in ("read", "refused")


@tried(60)
@given(st.randoms())
def test_any_file_of_a_store_is_read_or_refused(tmp_path, rng):
    assert store_files.try_store(rng, tmp_path) in ("read", "refused")


@tried(100)
@given(st.binary(max_size=200), st.sampled_from(vector_files.SUFFIXES))
def test_any_bytes_are_read_or_refused(tmp_path, content, suffix):
    path = tmp_path / f"f{suffix}"
    path.write_bytes(content)
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("invarot.words.vectors.Findings.warn", lambda self, *_, **__: ())
            found = read_vectors(path)
    except InputError:
        return
    assert len(found) > 0
    assert np.isfinite(found.vectors).all()


LETTERS = st.characters(exclude_characters="\0\n\r", exclude_categories=("Cs",))
FORMATS = ("npz", "npy", "safetensors")


@tried(60)
@given(
    st.lists(st.text(LETTERS, max_size=8), min_size=1, max_size=6, unique=True),
    st.integers(1, 5),
    st.sampled_from(FORMATS),
    st.data(),
)
def test_what_is_written_is_read(tmp_path, words, d, format, data):
    numbers = st.floats(width=32, allow_nan=False, allow_infinity=False)
    table = np.array(data.draw(st.lists(numbers, min_size=d * len(words), max_size=d * len(words))), np.float32)
    path = write_vectors(tmp_path / f"f.{format}", words, table.reshape(-1, d), format=format)
    found = read_vectors(path)
    assert found.words == tuple(words)
    np.testing.assert_array_equal(found.vectors, table.reshape(-1, d))


# -- saved models ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    return saved_files.make_models(tmp_path_factory.mktemp("models"))


@tried(150)
@given(st.randoms())
def test_a_forged_model_works_or_is_refused(tmp_path, models, rng):
    assert saved_files.try_saved(rng, tmp_path, models) in ("loaded", "equal", "refused")


@tried(150)
@given(st.integers(0, 1 << 30), st.integers(1, 255))
def test_a_flipped_byte_is_seen_or_changes_nothing(tmp_path, models, at, flip):
    path, kind = models[0]
    whole = (path / kind.file).read_bytes()
    content = bytearray(whole)
    content[at % len(content)] ^= flip
    (tmp_path / kind.file).write_bytes(content)
    try:
        invarot.load(tmp_path)
    except InputError:
        return
    told = saved_files.take_apart_bytes
    assert told(bytes(content), kind, tmp_path) == told(whole, kind, tmp_path)


@tried(6)
@given(st.integers(2, 12), st.integers(1, 3), st.sampled_from(("f4", "f8")), st.booleans(), st.integers(0, 99))
def test_a_saved_alignment_is_the_same(tmp_path, n, d, dtype, exact, seed):
    x = np.random.default_rng(seed).gamma(2.0, size=(n, d)).astype(dtype)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("invarot.alignment.history.Status.warn", lambda self: None)
        found = invarot.align(x, x[::-1], start="identity", solver=invarot.Exact() if exact else None)
    found.save(tmp_path / "m")
    again = invarot.load(tmp_path / "m")
    assert saved_files.take_apart(tmp_path / "m", ALIGNMENT)[1]["settings"]["start"] == "identity"
    for one, other in ((found.map, again.map), (found.offset, again.offset), (found.plan.dense(), again.plan.dense())):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)
    assert repr((found.history.rows(), found.verdict, found.starts, found.settings)) == repr(
        (again.history.rows(), again.verdict, again.starts, again.settings)
    )


# -- align -----------------------------------------------------------------------------------------------------------


@tried(12)
@given(st.integers(0, 1 << 30))
def test_align_with_any_options(seed):
    """On clouds of ordinary scale: finite, marginals as reported, documented exceptions only, no stray warnings."""
    call = aligns.make_call(Random(seed))
    draw = np.random.default_rng(seed)
    for name in ("x", "y"):
        call[name] = draw.gamma(2.0, size=call[name].shape)
    call.update(a=None, b=None)
    assert aligns.judge_call(call) in ("aligned", "not aligned", "refused")


def small(seed: int, n: int, d: int) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((n, d))


TINY = np.array([1.0, 1e-50])
KNOWN = {
    "a weight of 1e-50: 0/0 in the first change of the plan (loop/alternate.py, _measure)": {
        "x": small(0, 2, 5), "y": small(1, 2, 5), "a": TINY / TINY.sum(),
    },
    "a weight of 1e-43 and whitening: overflow in transport/cost.py, _both_sums": {
        "x": small(0, 2, 5), "y": small(1, 3, 5), "b": np.array([1 - 1e-7, 1e-7, 4e-43]), "p": invarot.Schatten(whiten=True),
    },
    "a cloud of 1e22 beside one in one point: overflow of the cast to float32 in search/heats.py": {
        "x": np.array([[0, 0, 1e22, 0, 0], [0, 1e21, 2e22, 0, 0]]), "y": np.full((11, 3), 5e16), "translate": True,
    },
    "five sweeps at epsilon 1e-8: the plan is 2.6 off and says 0.52": {
        "x": np.array([[0.4, 1.4, 0.2, 0.2], [-0.1, -1.8, 1.7, 0.7]], np.float32),
        "y": np.array([[0.2, 1.6, -0.6, -2.4], [0.6, 0, -0.1, -0.6]], np.float32),
        "solver": invarot.Sinkhorn(1e-8, tol=1e-3, max_iter=5, plan_tol=0.1, plan_max_iter=5, objective="transport"),
    },
    "weights of random(30) ** 30, whitening and translation": {
        "x": small(0, 30, 3), "y": small(1, 30, 3), "p": invarot.Schatten(whiten=True), "translate": True,
        "a": (lambda w: w / w.sum())(np.random.default_rng(0).random(30) ** 30),
    },
    "clouds of 1e37 and 1e-43": {"x": 1e37 * small(0, 12, 3), "y": 1e-43 * small(1, 12, 3)},
    "float32 at epsilon 1e-7: the plan is 0.36 off and says 0.17": {
        "x": small(5, 12, 3).astype("f4"), "y": small(5, 12, 3).astype("f4")[::-1].copy(), "start": "identity",
        "solver": invarot.Sinkhorn(1e-7, max_iter=5, plan_max_iter=50),
    },
}  # fmt: skip


@pytest.mark.parametrize("what", KNOWN)
def test_inputs_that_failed(what):
    """Each raised something undocumented, or returned a plan that was further off than it said; the name says how."""
    assert aligns.judge_call(KNOWN[what]) in ("aligned", "refused")


def test_a_plan_says_how_far_off_it_is():
    """Single precision at an epsilon that it hardly resolves: the error is that of the plan, and no mass is missing."""
    x = 300 * small(5, 12, 3).astype("f4")
    with pytest.warns(invarot.NotConverged):
        found = invarot.align(x, x[::-1].copy(), start="identity", solver=invarot.Sinkhorn(1e-7, max_iter=5))
    rows, columns = found.plan.marginals()
    off = max(abs(rows - found.plan.a).sum(), abs(columns - found.plan.b).sum())
    assert found.plan.error == pytest.approx(off, abs=1e-6)
    assert abs(rows.sum() - 1) <= min(found.plan.error, 0.01)
    assert found.status is not invarot.Status.SETTLED
    assert any(note.startswith("schedule: epsilon") for note in found.notes)


SLOW = {
    "marginals out of reach": {"solver": invarot.Sinkhorn(plan_tol=0)},
    "marginals out of the reach of single precision": {"dtype": "f4", "solver": invarot.Sinkhorn(1e-6, plan_tol=1e-9)},
    "the transport cost, whose maps are found by iteration": {"n": 14, "m": 3, "d": 8, "p": 1.5, "solver": invarot.Sinkhorn(objective="transport")},
    "weights of very different size": {"n": 20, "m": 20, "d": 3, "power": 12},
}  # fmt: skip


@pytest.mark.parametrize("what", SLOW)
def test_a_solve_that_cannot_converge_ends(what):
    """Steps are counted, not seconds: at most 500 steps of 50 sweeps were spent on each candidate before."""
    options = dict(SLOW[what])
    n, m, d = (options.pop(name, default) for name, default in (("n", 20), ("m", 20), ("d", 3)))
    draw, dtype = np.random.default_rng(1), options.pop("dtype", "f8")
    a = draw.random(n) ** options.pop("power", 1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("invarot.alignment.history.Status.warn", lambda self: None)
        found = invarot.align(
            draw.standard_normal((n, d)).astype(dtype), draw.standard_normal((m, d)).astype(dtype), a=a / a.sum(),
            effort="quick", **options,
        )  # fmt: skip
    assert sum(found.history["inner_iterations"]) <= 10_000


# -- the same answer in other coordinates ----------------------------------------------------------------------------


def make_pair(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A cloud with no symmetry, and a rotated, shuffled copy."""
    rng = np.random.default_rng(seed)
    x = rng.gamma(1.0, size=(30, 3)) * [1.0, 2.0, 3.0]
    return x, rng.permutation(x) @ np.linalg.qr(rng.standard_normal((3, 3)))[0]


def turn(seed: int) -> np.ndarray:
    return np.linalg.qr(small(seed + 1000, 3, 3))[0]


# What is done to x and y, what becomes of the map and of the options.
CHANGES = {
    "order of rows": lambda x, y, seed: (np.random.default_rng(seed).permutation(x), y[::-1], lambda w: w),
    "rotation of x": lambda x, y, seed: (x @ turn(seed), y, lambda w: turn(seed).T @ w),
    "rotation of y": lambda x, y, seed: (x, y @ turn(seed), lambda w: w @ turn(seed)),
    "scale of both": lambda x, y, seed: (x * 10.0 ** (seed % 9 - 4), y * 10.0 ** (seed % 9 - 4), lambda w: w),
    "swap": lambda x, y, seed: (y, x, lambda w: w.T),
}


@pytest.mark.parametrize("change", CHANGES)
@tried(3)
@given(seed=st.integers(0, 1 << 20))
def test_the_answer_moves_with_the_clouds(change, seed):
    x, y = make_pair(seed)
    before = invarot.align(x, y)
    changed_x, changed_y, expected = CHANGES[change](x, y, seed)
    after = invarot.align(changed_x, changed_y)
    np.testing.assert_allclose(after.map, expected(before.map), atol=2e-3)


@tried(3)
@given(st.integers(0, 1 << 20), st.floats(-50, 50))
def test_a_shift_goes_into_the_offset(seed, shift):
    x, y = make_pair(seed)
    before = invarot.align(x, y, translate=True)
    after = invarot.align(x, y + shift, translate=True)
    np.testing.assert_allclose(after.map, before.map, atol=2e-3)
    np.testing.assert_allclose(after.offset - before.offset, shift, atol=1e-2)


@tried(3)
@given(st.integers(0, 1 << 20), st.floats(-3, 3))
def test_a_size_goes_into_the_map(seed, power):
    x, y = make_pair(seed)
    before = invarot.align(x, y, scale=True)
    after = invarot.align(x, 10.0**power * y, scale=True)
    np.testing.assert_allclose(after.map / 10.0**power, before.map, atol=2e-3)


# -- killed at any moment --------------------------------------------------------------------------------------------


def test_a_killed_command_leaves_the_old_or_the_new(tmp_path):
    """Three kills of many; `make fuzz` does two hundred."""
    command = [sys.executable, "-m", "tests.fuzz", "--kinds", "kills", "--kills", str(3 * TIMES), "--out"]
    done = subprocess.run(
        [*command, tmp_path / "fuzz.md"], cwd=Path(__file__).parents[1], capture_output=True, text=True, check=False,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"| kills | {3 * TIMES} | {3 * TIMES} | 0 |" in (tmp_path / "fuzz.md").read_text()
