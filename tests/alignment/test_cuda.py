"""The same solve on a CUDA device: same maps, same verdicts, whatever the cost object chosen there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import invarot
from invarot.transport import choice

torch = pytest.importorskip("torch")
pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device"),
]


def clouds(n: int, d: int, seed: int = 0) -> tuple[Any, Any, Any, Any]:
    rng = np.random.default_rng(seed)
    x = rng.gamma(2.0, size=(n, d)) * np.arange(1, d + 1) ** -0.3
    x -= x.mean(axis=0)
    turn = np.linalg.qr(rng.standard_normal((d, d)))[0]
    order = rng.permutation(n)
    return x, x[order] @ turn, turn, np.argsort(order)


def cuda(points: Any, dtype: Any = torch.float64) -> Any:
    return torch.from_numpy(np.ascontiguousarray(points)).to("cuda", dtype)


@pytest.mark.parametrize(("n", "d"), [(200, 3), (400, 10), (800, 30)])
def test_float64_agrees_with_the_cpu(n: int, d: int) -> None:
    """Default tolerances leave maps some 1e-5 off, and rounding decides where in there: solved closely, they agree closely."""
    x, y, _, right = clouds(n, d)
    closely = invarot.Sinkhorn(tol=1e-7, plan_tol=1e-6)
    host, found = invarot.align(x, y, solver=closely), invarot.align(cuda(x), cuda(y), solver=closely)
    assert found.map.device.type == "cuda"
    np.testing.assert_allclose(found.map.cpu().numpy(), host.map, atol=1e-6)
    host, found = invarot.align(x, y), invarot.align(cuda(x), cuda(y))
    assert (found.matches().cpu().numpy() == right).mean() >= 0.99
    assert found.verdict.word == host.verdict.word


@pytest.mark.parametrize("p", [1.5, 2, 4, np.inf])
def test_every_ball(p: float) -> None:
    x, y, turn, _ = clouds(300, 5)
    host = invarot.align(x, y, p=p, start=turn)
    found = invarot.align(cuda(x), cuda(y), p=p, start=cuda(turn))
    np.testing.assert_allclose(found.map.cpu().numpy(), host.map, atol=1e-5)


@pytest.mark.parametrize("d", [5, 50, 300])
def test_streamed_by_kernels(d: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choice, "CUDA_DENSE", 0)
    x, y, turn, right = clouds(1000, d)
    found = invarot.align(cuda(x, torch.float32), cuda(y, torch.float32), start=cuda(turn, torch.float32))
    assert "kernels" in found.history[-1].mode
    assert float(np.abs(found.map.cpu().numpy() - turn).max()) < 1e-3
    assert (found.matches().cpu().numpy() == right).mean() >= 0.99


def test_many_small_starts_are_fused_and_seeds_respected() -> None:
    x, y, turn, _ = clouds(200, 3)
    options: dict[str, Any] = {"start": "random", "n_starts": 200, "rng": 3}
    found = invarot.align(cuda(x, torch.float32), cuda(y, torch.float32), **options)
    again = invarot.align(cuda(x, torch.float32), cuda(y, torch.float32), **options)
    assert found.history[0].mode == "fused"
    assert float(np.abs(found.map.cpu().numpy() - turn).max()) < 1e-3
    assert torch.equal(found.map, again.map)
    assert found.objective == pytest.approx(invarot.align(x, y, **options).objective, rel=1e-4)


@pytest.mark.parametrize("shape", [(3, 20, 30, 3), (20, 200, 200, 3), (17, 512, 100, 16), (1, 3, 5, 2)])
def test_fused_sweeps_are_sweeps(shape: tuple[int, int, int, int]) -> None:
    from invarot.transport.cost import BlockedCost
    from invarot.transport.gpu.small import SmallCost

    s, n, m, d = shape
    rng = np.random.default_rng(1)
    z, y = cuda(rng.standard_normal((s, n, d))), cuda(rng.standard_normal((m, d)))
    a, b = (cuda(rng.dirichlet(np.full(k, 5.0))) for k in (n, m))
    v = torch.zeros((s, m), device="cuda")
    u, found, error, sweeps = SmallCost(z.float(), y.float(), 3.0, a.float(), b.float()).solve(v, tol=0.0, max_iter=7)
    reference, want = BlockedCost(z, y, 3.0, a, b), v.double()
    for _ in range(7):
        before = want
        rows, want = reference.sweep(want)
    assert sweeps == 7
    torch.testing.assert_close(found.double(), want, atol=2e-5, rtol=1e-5)
    torch.testing.assert_close(u.double(), rows, atol=2e-5, rtol=1e-5)
    torch.testing.assert_close(error.double(), (b * torch.expm1(before - want).abs()).sum(-1), atol=1e-4, rtol=1e-3)


def test_learning_to_translate() -> None:
    from invarot.translation import learn
    from invarot.words import load_core_pair

    english, spanish, gold = load_core_pair()
    found = learn(english, spanish, device="cuda")
    host = learn(english, spanish, device="cpu")
    assert found.verdict.word == "aligned"
    assert abs(found.evaluate(gold)["precision@1"] - host.evaluate(gold)["precision@1"]) < 0.02


@pytest.mark.parametrize(("n", "m", "d"), [(700, 1000, 5), (3000, 2000, 100), (513, 4097, 300)])
@pytest.mark.parametrize("scale", [10.0, 300.0])
def test_a_kept_kernel_sweeps_alike(n: int, m: int, d: int, scale: float) -> None:
    from invarot.transport.cost import BlockedCost
    from invarot.transport.gpu.kept import KeptCost

    rng = np.random.default_rng(2)
    z, y = (rng.standard_normal((k, d)) for k in (n, m))
    z, y = (cuda(p / np.linalg.norm(p, axis=1, keepdims=True)) for p in (z, y))
    a, b = (cuda(rng.dirichlet(np.full(k, 5.0))) for k in (n, m))
    kept = KeptCost(z.float()[None], y.float(), scale, a.float(), b.float())
    reference = BlockedCost(z[None], y, scale, a, b)
    v, want = torch.zeros((1, m), device="cuda"), torch.zeros((1, m), device="cuda", dtype=torch.float64)
    for _ in range(8):
        u, v = kept.sweep(v)
        rows, want = reference.sweep(want)
    assert kept.kernel is not None
    assert float((v.double() - want).abs().max()) < 0.01
    assert float((u.double() - rows).abs().max()) < 0.01
    moved, mass = kept.images(u, v)
    right, sums = reference.images(rows, want)
    assert float((moved.double() - right).abs().sum() / right.abs().sum()) < 0.01
    assert float((mass.double() - sums).abs().sum()) < 0.01


@pytest.mark.parametrize("device", ["cuda", "auto", "cuda:0"])
def test_numpy_points_sent_there_come_back(device: str) -> None:
    x, y, turn, right = clouds(300, 5)
    found = invarot.align(x, y, device=device)
    np.testing.assert_allclose(found.map, turn, atol=1e-3)
    assert isinstance(found.plan.dense(), np.ndarray)
    assert (found.matches() == right).mean() >= 0.99


@pytest.mark.parametrize(
    ("n", "d", "mode"),
    [(2000, 300, "dense"), (12_000, 300, "streamed"), (24_000, 100, "streamed"), (24_000, 300, "kept")],
)
def test_the_choice_follows_the_measured_times(n: int, d: int, mode: str) -> None:
    points = torch.nn.functional.normalize(torch.randn(n, d, device="cuda"), dim=1)
    weights = torch.full((n,), 1 / n, device="cuda")
    assert choice.make_cost(points[None], points, 40.0, weights, weights, memory=None).mode.startswith(mode)


def test_a_small_epsilon_makes_entries_dear_and_keeps_them() -> None:
    """In fp32 an entry takes three products, so that a kernel of fewer dimensions is worth keeping."""
    points = torch.nn.functional.normalize(torch.randn(24_000, 100, device="cuda"), dim=1)
    weights = torch.full((24_000,), 1 / 24_000, device="cuda")
    cost = choice.make_cost(points[None], points, 1e4, weights, weights, memory=None)
    assert cost.mode == "kept after 2 sweeps (streamed (fp32 kernels))"


@pytest.mark.parametrize("d", [3, 8])
def test_a_part_that_corresponds(d: int) -> None:
    x, _, turn, _ = clouds(300, d)
    kept = np.flatnonzero(x[:, 0] < np.quantile(x[:, 0], 0.7))
    y = x[kept] @ turn + 1.0
    host = invarot.align(x, y, translate=True, overlap="auto")
    found = invarot.align(cuda(x), cuda(y), translate=True, overlap="auto")
    assert found.map.device.type == "cuda"
    np.testing.assert_allclose(found.map.cpu().numpy(), host.map, atol=1e-4)
    assert found.overlap == pytest.approx(host.overlap, abs=0.01)
    assert (found.matches().cpu().numpy() == host.matches()).mean() > 0.98


def test_a_part_that_corresponds_streamed_by_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    x, _, turn, _ = clouds(1000, 8)
    kept = np.flatnonzero(x[:, 0] < np.quantile(x[:, 0], 0.7))
    y = x[kept] @ turn
    dense = invarot.align(
        cuda(x, torch.float32), cuda(y, torch.float32), overlap="auto", start=cuda(turn, torch.float32)
    )
    monkeypatch.setattr(choice, "CUDA_DENSE", 0)
    found = invarot.align(
        cuda(x, torch.float32), cuda(y, torch.float32), overlap="auto", start=cuda(turn, torch.float32)
    )
    assert found.history[-1].mode != dense.history[-1].mode
    np.testing.assert_allclose(found.map.cpu().numpy(), dense.map.cpu().numpy(), atol=1e-2)
    assert found.overlap == pytest.approx(dense.overlap, abs=0.02)
