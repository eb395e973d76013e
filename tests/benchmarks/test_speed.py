"""The benchmark's own arithmetic, and the smallest real run of it."""

import csv

import numpy as np
import pytest

from benchmarks.speed import rivals, run
from benchmarks.speed.problems import EPSILON, TOL, marginal_error, plan_step, word_like
from benchmarks.speed.scaling import exponent, exponents, step


def test_the_problems_are_what_they_say():
    x, y, match = word_like(200, 10, paired=True)
    assert x.dtype == y.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(x, axis=1), 1, rtol=1e-5)
    closest = np.argmax(x @ y.T, axis=1)
    assert np.mean(closest == match) > 0.5
    _, other, none = word_like(200, 10)
    assert (none == -1).all()
    assert np.mean(np.max(x @ other.T, axis=1)) < np.mean(np.max(x @ y.T, axis=1))


def test_our_plan_step_is_at_the_error_it_is_timed_to():
    x, y, _ = word_like(300, 20)
    for accelerate in (True, False):
        found, images = plan_step(x, y, accelerate=accelerate)
        f = EPSILON * found.u[0].astype(float) + (x.astype(float) ** 2).sum(1)
        g = EPSILON * found.v[0].astype(float) + (y.astype(float) ** 2).sum(1)
        assert marginal_error(x, y, f, g, EPSILON) < 2 * TOL
        assert marginal_error(x, y, f + 0.01, g, EPSILON) > 0.1
        assert images.shape == x.shape


@pytest.mark.parametrize("name", ["POT sinkhorn float64", "POT sinkhorn_log float32"])
def test_a_rival_reaches_the_same_error_with_as_many_plain_sweeps(name):
    x, y, _ = word_like(200, 20)
    needed = plan_step(y, x, accelerate=False)[0].iterations  # they begin with the columns
    error, made = rivals.find(name, x, y)(needed)()
    assert made == needed
    assert error() < 2 * TOL
    assert rivals.find(name, x, y)(1)()[0]() > 10 * TOL


def test_a_slow_rival_is_computed_from_a_few_iterations_and_says_so(monkeypatch):
    monkeypatch.setattr(rivals, "TRIAL", 0.2)
    row = rivals.measure("POT sinkhorn_log float32", 200, 10, 10_000, cap=0.1)
    timed = int(row["note"].removeprefix("computed from ").removesuffix(" iterations"))
    assert 10 <= timed < 10_000
    assert row["error"] is None
    assert row["iterations"] == 10_000


def test_exponents():
    rows = [{"n": n, "d": 300, "seconds": 3e-9 * n**2, "peak": 7 * n} for n in (1000, 5000, 20000, 50000)]
    rows += [{"n": 5000, "d": d, "seconds": 3e-9 * 5000**2 * d / 300, "peak": 1} for d in (75, 600)]
    assert exponent(rows[:4], "n", "seconds") == pytest.approx(2)
    found = [row["ratio"] for row in exponents(rows, [1000, 5000, 20000, 50000], 5000)]
    assert found == pytest.approx([2, 1, 1])


def test_the_scaling_step_is_streamed_and_adds_no_more_than_estimated():
    found = step(1500, 8)
    assert found["mode"] == "streamed"
    assert found["seconds"] > 0
    assert found["added"] <= 1.5 * found["estimate"] + (1 << 24)


def test_the_whole_of_it_writes_its_three_files(tmp_path, monkeypatch):
    monkeypatch.setattr(run, "compare_plan_steps", lambda n, d, **how: _rows())
    monkeypatch.setattr(run, "scaling", lambda sizes, dims, at, say: _curve(sizes, dims, at))
    text = run.run_bench(tmp_path, n=300, d=10, sizes=[100, 200, 400], cap=1.0, say=lambda text: None)
    assert (tmp_path / "bench.png").stat().st_size > 10_000
    with (tmp_path / "bench.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    names = {row["what"]: row for row in rows}
    assert {"one full Sinkhorn iteration", "of that, the verdict", "sweeps", "invarot float32"} <= set(names)
    whole = names['align(x, y, start="signature"), verdict and all']
    parts = [float(row["seconds"]) for name, row in names.items() if name.startswith("of that, ")]
    assert float(whole["seconds"]) > 0.5 * sum(parts)
    assert "off the plain schedule's" in whole["note"]
    assert "python -m benchmarks.speed --n 300 --d 10 --sizes 100 200 400 --cap 1" in text
    shares = [float(row["ratio"]) for row in rows if row["note"] == "share of the solve"]
    assert sum(shares) == pytest.approx(1)


def _rows():
    return [
        {
            "what": "invarot float32",
            "seconds": 1.0,
            "ratio": 1.0,
            "iterations": 9,
            "error": 1e-4,
            "peak": 1,
            "note": "",
        },
        {"what": "POT", "note": "not installed"},
    ]


def _curve(sizes, dims, at):
    cases = [*((n, 300) for n in sizes), *((at, d) for d in dims)]
    return [{"what": f"{n}", "n": n, "d": d, "seconds": 1e-9 * n * n * d, "peak": n * d, "note": ""} for n, d in cases]
