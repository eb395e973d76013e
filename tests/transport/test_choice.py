"""Dense or streamed is decided by the memory bound, before anything is allocated."""

import sys
import tracemalloc

import numpy as np
import pytest

import invarot
from invarot.errors import InputError, MemoryBound
from invarot.transport.choice import _container_memory_left, free_memory, make_cost, memory_needed, parse_memory


@pytest.mark.parametrize(
    ("text", "size"),
    [("2GiB", 2 << 30), ("500 MB", 500_000_000), ("1k", 1000), ("1KiB", 1024), (4096, 4096), ("1.5gib", 3 << 29)],
)
def test_parse_memory(text, size):
    assert parse_memory(text) == size


@pytest.mark.parametrize("text", ["lots", "-1GB", 0, "0", "1XB", "", -5, "1.2.3GB"])
def test_parse_memory_refuses(text):
    with pytest.raises(InputError, match="memory"):
        parse_memory(text)


def test_bound_decides():
    rng = np.random.default_rng(0)
    z, y = rng.standard_normal((1, 3000, 2)), rng.standard_normal((3000, 2))
    a = np.full(3000, 1 / 3000)
    dense, streamed = (memory_needed(z, y, dense=keep) for keep in (True, False))
    assert dense - streamed == 8 * 3000**2
    assert make_cost(z, y, 1.0, a, a, memory=dense).mode == "dense"
    assert make_cost(z, y, 1.0, a, a, memory=dense - 1).mode == "streamed"
    with pytest.raises(MemoryBound, match="raise memory="):
        make_cost(z, y, 1.0, a, a, memory=streamed - 1)
    assert free_memory(z) > 1 << 20


def test_a_small_problem_needs_little():
    """Whatever the number of cores: what is not there to be blocked is not counted."""
    z = np.zeros((1, 100, 3))
    assert memory_needed(z, z[0], dense=True) < 10 * 8 * 100**2


def test_align_keeps_within_its_bound():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((5000, 2)).astype(np.float32)
    options = {"max_iter": 1, "plan_max_iter": 2, "schedule": 0.5}
    bound = 60_000_000  # the kernel alone is 100 MB
    tracemalloc.start()
    with pytest.warns(invarot.NotConverged):
        result = invarot.align(x, x, start="identity", solver=invarot.Sinkhorn(memory=bound, **options))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert result.history[0].mode == "streamed"
    assert peak < bound
    with pytest.raises(MemoryBound):
        invarot.align(x, x, start="identity", solver=invarot.Sinkhorn(memory="1MB", **options))


def test_streamed_solve_equals_dense_solve():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((1200, 3))
    y = x @ np.linalg.qr(rng.standard_normal((3, 3)))[0] + 0.1 * rng.standard_normal((1200, 3))
    options = {"schedule": 0.3, "plan_tol": 1e-8, "plan_max_iter": 300}
    dense = invarot.align(x, y, start="random", solver=invarot.Sinkhorn(**options))
    bound = memory_needed(x[None], y, dense=True) - 1
    streamed = invarot.align(x, y, start="random", solver=invarot.Sinkhorn(memory=bound, **options))
    assert (dense.history[0].mode, streamed.history[0].mode) == ("dense", "streamed")
    np.testing.assert_allclose(streamed.map, dense.map, atol=1e-10)


def test_torch_blocks_are_counted(lib):
    """Streaming on torch takes larger blocks: the bound below which it refuses is what it really holds."""
    z, y = lib.array(np.zeros((1, 20000, 4), "float32")), lib.array(np.zeros((20000, 4), "float32"))
    need = memory_needed(z, y, dense=False)
    a = lib.array(np.full(20000, 1 / 20000, "float32"))
    assert make_cost(z, y, 1.0, a, a, memory=need).mode == "streamed"
    if lib.name == "torch":
        assert need > 2 * 4 * (1 << 24)
        with pytest.raises(MemoryBound):
            make_cost(z, y, 1.0, a, a, memory=2 * 4 * (1 << 24))


def test_exact_plans_honour_the_bound():
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((60, 2)), rng.standard_normal((60, 2))
    kept = invarot.align(x, y, start="identity", solver=invarot.Exact(memory=8 * 60 * 60, max_iter=200))
    assert kept.history[0].mode == "exact"
    for target, bound in ((y, 8 * 60 * 60 - 1), (y[:50], 8 * 60 * 50)):  # the network simplex needs more
        with pytest.raises(MemoryBound, match=r"solver=Sinkhorn\(\)"):
            invarot.align(x, target, start="identity", solver=invarot.Exact(memory=bound))


def test_only_the_threads_that_are_allowed_are_counted(monkeypatch):
    z = np.zeros((1, 20000, 4), "float32")
    monkeypatch.setattr("invarot.transport.choice.workers", lambda: 1)
    one = memory_needed(z, z[0], dense=False)
    monkeypatch.setattr("invarot.transport.choice.workers", lambda: 16)
    block = 4 * 64 * 20000  # bytes of 64 rows of scores
    assert memory_needed(z, z[0], dense=False) - one == 15 * 2 * block


def test_a_container_has_what_its_bound_leaves(tmp_path):
    assert _container_memory_left(tmp_path / "none") == sys.maxsize
    for name, text in {
        "memory.max": "1000",
        "memory.current": "700",
        "memory.stat": "anon 5\ninactive_file 50\n",
    }.items():
        (tmp_path / name).write_text(text + "\n")
    assert _container_memory_left(tmp_path) == 350
    (tmp_path / "memory.max").write_text("max\n")
    assert _container_memory_left(tmp_path) == sys.maxsize
