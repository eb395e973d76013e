"""The streaming sums against float64: plain torch everywhere, the kernels where there is a CUDA device."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from invarot.errors import InputError  # noqa: E402
from invarot.transport.gpu import blocks, ops  # noqa: E402
from invarot.transport.gpu.cost import ROUGH, precision_for  # noqa: E402

gpu = pytest.mark.gpu
cuda = pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
SHAPES = [(1, 1, 3), (1, 40, 3), (37, 1, 5), (70, 131, 50), (33, 65, 100)]


def cloud(seed: int, *shape: int, unit: bool = True) -> Any:
    x = torch.from_numpy(np.random.default_rng(seed).standard_normal(shape))
    return x / torch.linalg.vector_norm(x, dim=-1, keepdim=True) if unit else x


def problem(n: int, m: int, d: int, *, seed: int = 0) -> tuple[Any, Any, Any]:
    """Unit vectors and potentials of which every third is −inf (but never all)."""
    v = cloud(seed + 2, m, unit=False)
    v[1::3] = -math.inf
    return cloud(seed, n, d), cloud(seed + 1, m, d), v


def naive_lse(z: Any, y: Any, v: Any, scale: float) -> Any:
    return torch.logsumexp(scale * (z @ y.mT) + v[..., None, :], dim=-1)


@pytest.mark.parametrize(("n", "m", "d"), SHAPES)
def test_blocks_agree_with_float64(n: int, m: int, d: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "_ENTRIES", 100)  # several blocks, the last one ragged
    z, y, v = problem(n, m, d)
    want = naive_lse(z, y, v, 7.0)
    got = ops.lse(z, y, v, 7.0)
    assert got.dtype == torch.float32
    assert got.shape == (n,)
    torch.testing.assert_close(got.double(), want, atol=1e-5, rtol=0)

    u = -want - math.log(n)
    plan = torch.exp(7.0 * (z @ y.mT) + u[:, None] + v)
    torch.testing.assert_close(ops.apply(z, y, u, v, y, 7.0).double(), plan @ y, atol=1e-6, rtol=1e-5)

    index, value = ops.best(z, y, v, 7.0)
    score = 7.0 * (z @ y.mT) + v
    assert torch.equal(index, score.argmax(dim=1))
    torch.testing.assert_close(value.double(), score.max(dim=1).values, atol=1e-5, rtol=0)


def test_batches_share_what_has_no_batch_axis() -> None:
    z, y, t = cloud(0, 4, 9, 3), cloud(1, 11, 3), cloud(2, 11, 5, unit=False)
    u, v = cloud(3, 4, 9, unit=False), cloud(4, 4, 11, unit=False)
    got, moved = ops.lse(z, y, v, 2.0), ops.apply(z, y, u, v, t, 2.0)
    index, _ = ops.best(z, y, v[0], 2.0)
    assert got.shape == (4, 9)
    assert moved.shape == (4, 9, 5)
    for s in range(4):
        torch.testing.assert_close(got[s], ops.lse(z[s], y, v[s], 2.0))
        torch.testing.assert_close(moved[s], ops.apply(z[s], y, u[s], v[s], t, 2.0))
        assert torch.equal(index[s], ops.best(z[s], y, v[0], 2.0)[0])
    assert ops.lse(z[0], y, v, 2.0).shape == (4, 9)


def test_no_weight_at_all_gives_minus_infinity_and_nothing() -> None:
    z, y, _ = problem(5, 6, 3)
    nothing = torch.full((6,), -math.inf)
    assert torch.all(ops.lse(z, y, nothing, 1.0) == -math.inf)
    assert torch.all(ops.apply(z, y, torch.zeros(5), nothing, y, 1.0) == 0)


def test_transposed_views_are_read_as_they_are() -> None:
    z, y, v = problem(20, 30, 8)
    strided = z.T.contiguous().T
    torch.testing.assert_close(ops.lse(strided, y[::2], v[::2], 3.0), ops.lse(z, y[::2].clone(), v[::2].clone(), 3.0))


def test_prepared_points_give_the_same() -> None:
    z, y, v = problem(20, 30, 8)
    torch.testing.assert_close(ops.lse(ops.prepare(z), ops.prepare(y), v, 3.0), ops.lse(z, y, v, 3.0))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"precision": "fp8"}, "precision: expected one of"),
        ({"v": torch.zeros(7)}, r"v: expected shape \(6,\)"),
        ({"y": torch.zeros(6, 4)}, "points of one dimension"),
        ({"scale": math.inf}, "scale: expected a finite number"),
        ({"z": torch.zeros(0, 3)}, "not empty"),
    ],
)
def test_wrong_arguments_are_named(change: dict[str, Any], message: str) -> None:
    z, y, v = problem(5, 6, 3)
    given = {"z": z, "y": y, "v": v, "scale": 1.0, "precision": "fp16"} | change
    with pytest.raises(InputError, match=message):
        ops.lse(given["z"], given["y"], given["v"], given["scale"], precision=given["precision"])


def test_operands_of_two_precisions_are_refused() -> None:
    z, y, v = problem(5, 6, 3)
    with pytest.raises(InputError, match="one precision"):
        ops.lse(ops.prepare(z, precision="fp16"), ops.prepare(y, precision="fp32"), v, 1.0)


def rounded(x: Any, precision: str) -> Any:
    """``x`` as the kernels' products see it."""
    high = x.half().double()
    return high if precision == "fp16" else high + (x - high).half().double()


@pytest.mark.parametrize("epsilon", [1.0, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001])
@pytest.mark.parametrize(("d", "unit"), [(300, True), (100, True), (50, False), (3, False)])
def test_chosen_precision_keeps_exponents_within_one_percent(epsilon: float, d: int, unit: bool) -> None:
    z = cloud(0, 400, d, unit=unit)
    y = z + 0.3 * cloud(1, 400, d, unit=unit)
    if unit:
        y /= torch.linalg.vector_norm(y, dim=-1, keepdim=True)
    largest = float(torch.linalg.vector_norm(z, dim=-1).max() * torch.linalg.vector_norm(y, dim=-1).max())
    scale = 1 / (epsilon * (1 if unit else d))
    precision = ops.choose_precision(1 / (scale * largest), dim=d)
    # 32 times larger: as prepare scales them, so that low parts are not subnormal
    off = scale * (rounded(32 * z, precision) @ rounded(32 * y, precision).T / 1024 - z @ y.T).abs().max()
    assert off < 0.01
    assert off < ops.error_bound(precision, exponent=scale * largest, dim=d)


def test_a_plan_that_only_leads_to_a_map_may_be_rounded_more() -> None:
    """Ten times: at these scales the last plan takes three products and those before it one."""
    z = torch.nn.functional.normalize(torch.randn(50, 100, generator=torch.Generator().manual_seed(0)), dim=1)
    for scale, rough, last in ((20.0, "fp16", "fp16"), (100.0, "fp16", "fp32"), (1000.0, "fp32", "fp32")):
        assert precision_for(z, z, scale, within=ROUGH) == rough
        assert precision_for(z, z, scale) == last


def test_precision_moves_with_epsilon_and_dimension() -> None:
    assert ops.choose_precision(0.1, dim=300) == "fp16"
    assert ops.choose_precision(0.001, dim=300) == "fp32"
    assert ops.choose_precision(0.05, dim=300) == "fp16"
    assert ops.choose_precision(0.05, dim=3) == "fp32"
    with pytest.raises(InputError, match="epsilon_relative"):
        ops.choose_precision(0.0, dim=3)


@gpu
@cuda
@pytest.mark.parametrize(
    ("n", "m", "d", "precision", "scale", "tolerance"),
    [
        (1, 1, 3, "fp16", 5.0, 0.01),
        (700, 1301, 3, "fp32", 500.0, 0.01),
        (515, 3001, 50, "fp16", 20.0, 0.01),
        (2000, 3001, 100, "fp16", 30.0, 0.01),
        (1500, 9001, 300, "fp16", 60.0, 0.01),
        (1500, 3001, 300, "bf16", 5.0, 0.01),
        (1500, 3001, 300, "tf32", 60.0, 0.01),
        (1500, 3001, 300, "fp32", 1000.0, 0.01),
        (600, 1301, 768, "fp16", 60.0, 0.01),
        (600, 1301, 1024, "auto", 1000.0, 0.01),
    ],
)
def test_kernels_agree_with_float64(n: int, m: int, d: int, precision: str, scale: float, tolerance: float) -> None:
    z, y, v = (a.cuda() for a in problem(n, m, d))
    want = naive_lse(z, y, v, scale)
    for guess in (None, want + 20.0, want - 300.0):  # none; fair; so far off that every row must be redone
        got = ops.lse(z, y, v, scale, guess=guess, precision=precision).double()
        assert (got - want).abs().max() < tolerance

    u = -want - math.log(n)
    u[::7] = -math.inf
    moved = torch.exp(scale * (z @ y.mT) + u[:, None] + v) @ y
    for more in (0.0, 12.0):  # rows that sum to 1/n as is taken for granted, and rows that do not
        got = ops.apply(z, y, u + more, v, y, scale, precision=precision).double() * math.exp(-more)
        assert torch.linalg.norm(got - moved) <= 0.01 * torch.linalg.norm(moved)
    other = cloud(5, m, 70).cuda()
    got = ops.apply(z, y, u, v, other, scale, precision=precision).double()
    moved = torch.exp(scale * (z @ y.mT) + u[:, None] + v) @ other
    assert torch.linalg.norm(got - moved) <= 0.01 * torch.linalg.norm(moved)

    index, value = ops.best(z, y, v, scale, precision=precision)
    score = scale * (z @ y.mT) + v
    assert (value.double() - score.max(dim=1).values).abs().max() < 2 * tolerance
    assert (score.max(dim=1).values - score.gather(1, index[:, None])[:, 0]).max() < 2 * tolerance


@gpu
@cuda
def test_a_batch_on_the_device_is_its_problems_one_by_one() -> None:
    z, y = cloud(0, 50, 200, 3).cuda(), cloud(1, 50, 190, 3).cuda()
    v = cloud(2, 50, 190, unit=False).cuda()
    want = naive_lse(z, y, v, 10.0)
    got = ops.lse(z, y, v, 10.0, precision="fp32")
    torch.testing.assert_close(got.double(), want, atol=1e-3, rtol=0)
    plan = torch.exp(10.0 * (z @ y.mT) - want[..., None] - math.log(200) + v[:, None, :])
    moved = ops.apply(z, y, -want - math.log(200), v, y, 10.0, precision="fp32").double()
    assert torch.linalg.norm(moved - plan @ y) < 1e-3 * torch.linalg.norm(plan @ y)
    assert torch.all(ops.lse(z, y, torch.full_like(v, -math.inf), 1.0) == -math.inf)


@gpu
@cuda
def test_prepared_half_iterations_never_wait_for_the_device() -> None:
    z, y, v = (a.cuda().float() for a in problem(1500, 2500, 300))
    ops.apply(z, y, torch.zeros(1500, device="cuda"), v, y, 10.0, precision="fp16")  # compiles what is captured below
    prepared = ops.prepare(z), ops.prepare(y)
    guess = ops.lse(*prepared, v, 10.0)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):  # capturing fails on a wait
        out = ops.lse(*prepared, v, 10.0, guess=guess)
        moved = ops.apply(*prepared, -guess - math.log(1500), v, prepared[1], 10.0)
    graph.replay()
    torch.testing.assert_close(out, guess, atol=1e-4, rtol=0)
    plan = torch.exp(10.0 * (z @ y.mT) - guess[:, None] - math.log(1500) + v)
    assert torch.linalg.norm(moved - plan @ y) < 0.01 * torch.linalg.norm(plan @ y)
