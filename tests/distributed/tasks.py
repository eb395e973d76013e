"""What ranks do in tests; each function runs in a process of its own, inside a gloo group."""

from __future__ import annotations

import os
import sys
import time

import numpy as np
import torch.distributed as dist

import invarot
from invarot import Schedule, Sinkhorn, Stages, distributed
from invarot.distributed.shards import Shards
from invarot.errors import InputError, WorkersLost

align_module = sys.modules["invarot.distributed.align"]  # the function of this name hides it


def clouds(n=300, m=280, d=5, noise=0.05):
    """A cloud and a turned, shuffled copy of most of it."""
    rng = np.random.default_rng(0)
    x = rng.gamma(2.0, size=(n, d)) * np.linspace(2.0, 1.0, d)
    turn = np.linalg.qr(rng.standard_normal((d, d)))[0]
    order = rng.permutation(n)[:m]
    return x, x[order] @ turn + noise * rng.standard_normal((m, d)), turn


def cut(x, rank, count):
    """Uneven parts: the first rank has fewest rows."""
    ends = (np.arange(count + 1) ** 1.3 / count**1.3 * len(x)).astype(int)
    return x[ends[rank] : ends[rank + 1]]


def solve(x, y, group, **options):
    rank, count = dist.get_rank(group), dist.get_world_size(group)
    part = distributed.align(cut(x, rank, count), y, group=group, **options)
    whole = distributed.gather(part, group=group)
    return {
        "map": whole.map, "offset": whole.offset, "verdict": whole.verdict.word, "objective": whole.objective,
        "matches": whole.matches("plan"), "own": len(part.plan.u), "rows": len(whole.plan.u),
        "error": whole.plan.error, "steps": len(whole.history),
    }  # fmt: skip


def one_two_four():
    """The same problems on groups of one, two and four ranks of the same four processes."""
    x, y, turn = clouds()
    more = clouds(900, 800, 8, 0.02)[:2]  # plans that use all of their sweeps, in which rounding could grow
    start = np.linalg.qr(turn + 0.1)[0]
    cases = {
        "auto": {}, "given": {"start": start}, "moved": {"translate": True, "scale": True},
        "p2": {"p": 2.0, "start": start, "solver": Sinkhorn(objective="transport")},
    }  # fmt: skip
    found = {}
    for count in (1, 2, 4):
        group = dist.new_group(list(range(count)))
        if dist.get_rank() < count:
            for name, options in cases.items():
                found[name, count] = solve(x, y, group, **options)
            sample, align_module.SAMPLE_ROWS = (
                align_module.SAMPLE_ROWS,
                600,
            )  # the search has not all rows, and shares its work
            found["sampled", count] = solve(*more, group)
            align_module.SAMPLE_ROWS = sample
    return found


def stages():
    """Stages drawn over ranks: rows stay where they are if they are many, and are given to all if few."""
    x, y, turn = clouds(900, 900)
    from invarot.distributed import shards

    found = {}
    for few in (10_000, 100):
        shards.REPLICATED = few
        found[few] = solve(x, y, None, start=turn, solver=Sinkhorn(schedule=0.02, stages=Stages((200, 500))))
    return found


def watch_shards():
    """Return the list to which the shards of the solves of this process are added."""
    made, keep = [], Shards.of

    def watched(*arguments):
        made.append(keep(*arguments))
        return made[-1]

    Shards.of = watched
    return made


def bytes_per_step():
    """Bytes given to collectives before each outer step, with its sweeps."""
    x, y, turn = clouds(200, 150)
    made, seen = watch_shards(), []
    distributed.align(
        cut(x, dist.get_rank(), 2), y, start=turn,
        on_step=lambda step: seen.append((step.inner_iterations, made[0].sent, len(y), x.shape[1])),
    )  # fmt: skip
    return seen


def one_is_killed():
    """The second rank ends in the middle; what the others raise, and after how long."""
    x, y, turn = clouds()
    killed = []

    def watch(step):
        if dist.get_rank() == 1 and step.step == 2:
            os._exit(9)
        if step.step == 2:
            killed.append(time.monotonic())

    try:
        distributed.align(cut(x, dist.get_rank(), 3), y, start=turn, on_step=watch)
    except WorkersLost as error:
        return str(error), time.monotonic() - killed[0]


def refusals():
    """What is wrong on one rank is raised on all."""
    x, y, _ = clouds()
    rank = dist.get_rank()
    bad = x.copy()
    bad[-1, 0] = np.nan
    told = []
    for arguments, options in (
        ((cut(bad, rank, 2), y), {}), ((x, y + rank), {}), ((x, y), {"rng": rank}),
        ((x, y), {"solver": Sinkhorn(refit=True)}), ((x, y), {"start": "seeds"}),
    ):  # fmt: skip
        try:
            distributed.align(*arguments, **options)
        except InputError as error:
            told.append(str(error))
    return told


def interrupted(path, count, cut_y=""):
    """Three ranks that end in the middle, or some that resume; the map, the steps and whether the file is left."""
    x, y, turn = clouds()
    options = {"start": turn, "solver": Sinkhorn(schedule=Schedule(0.1, 0.7, 0.01)), "cut_y": bool(cut_y)}
    ranks, seen = int(count), []
    y = cut(y, dist.get_rank(), ranks) if cut_y else y

    def watch(step):
        seen.append(step.epsilon)
        if ranks == 3 and step.epsilon < 0.03:
            raise KeyboardInterrupt

    try:
        found = distributed.align(cut(x, dist.get_rank(), ranks), y, on_step=watch, checkpoint=path, **options)
    except KeyboardInterrupt:
        return None, seen, os.path.exists(path)
    dist.barrier()
    return found.map, seen, os.path.exists(path)


def cut_targets():
    """The same problems with y on every rank and cut, over two and four ranks, in blocks of a few rows; and a given map in stages."""
    from invarot.distributed import shards

    shards.PASSED_BYTES = 5 * 8 * 40  # 40 rows at a time
    x, y, turn = clouds()
    start = np.linalg.qr(turn + 0.1)[0]
    cases = {
        "auto": {}, "given": {"start": start}, "moved": {"translate": True, "scale": True},
        "stages": {"start": turn, "solver": Sinkhorn(schedule=0.02, stages=Stages((100, 250)))},
    }  # fmt: skip
    found = {}
    for count in (2, 4):
        group = dist.new_group(list(range(count)))
        if dist.get_rank() < count:
            for name, options in cases.items():
                found[name, count, "all"] = solve(x, y, group, **options)
                found[name, count, "cut"] = solve(x, cut(y, dist.get_rank(), count), group, cut_y=True, **options)
    return found


def dtensors():
    """Points as DTensors: x cut, y on every rank or cut; beside arrays of the same rows; and what is refused."""
    import torch
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor import Replicate, Shard, distribute_tensor

    x, y, turn = (torch.from_numpy(one) for one in clouds())
    mesh, rank = init_device_mesh("cpu", (2,)), dist.get_rank()
    rows, all_of_y, part_of_y = (
        distribute_tensor(one, mesh, [how]) for one, how in ((x, Shard(0)), (y, Replicate()), (y, Shard(0)))
    )
    options = {"start": turn, "solver": Sinkhorn(schedule=0.02)}
    plain = distributed.align(x[150 * rank : 150 * (rank + 1)], y, **options)
    found = [distributed.align(rows, targets, **options) for targets in (all_of_y, part_of_y)]
    told = []
    for left, right, more in (
        (distribute_tensor(x, mesh, [Replicate()]), y, {}), (distribute_tensor(x, mesh, [Shard(1)]), y, {}),
        (rows, all_of_y, {"cut_y": True}), (rows, y, None),
    ):  # fmt: skip
        try:
            invarot.align(left, right) if more is None else distributed.align(left, right, **options, **more)
        except InputError as error:
            told.append(str(error))
    whole = [distributed.gather(one).matches("plan").numpy() for one in (plain, *found)]
    return [one.map.numpy() for one in (plain, *found)], [len(one.plan.u) for one in found], whole, told


def bytes_of_cut_targets():
    """Bytes given to sums and to passing blocks before each outer step, with its sweeps."""
    x, y, turn = clouds(200, 150)
    made, seen = watch_shards(), []
    distributed.align(
        cut(x, dist.get_rank(), 2), cut(y, dist.get_rank(), 2), cut_y=True, start=turn,
        on_step=lambda step: seen.append((step.inner_iterations, made[0].sent, made[1].sent, len(y), x.shape[1])),
    )  # fmt: skip
    return seen


def shared_work():
    """What one rank and two ranks do in a race and for its evidence: solves of a race, folds of points; and what is found."""
    from invarot.alignment import evidence
    from invarot.alignment.search import heats

    align_module.SAMPLE_ROWS = 200
    x, y, _ = clouds(m=150)
    counts = {}

    def count_calls(module, name):
        kept = getattr(module, name)

        def counted(*arguments, **options):
            counts[name] = counts.get(name, 0) + 1
            return kept(*arguments, **options)

        setattr(module, name, counted)

    count_calls(heats, "alternate")
    count_calls(evidence, "_known_directions")
    found = {}
    for ranks in (1, 2):
        group = dist.new_group(list(range(ranks)))
        counts.clear()
        if dist.get_rank() < ranks:
            seen = []
            part = distributed.align(
                cut(x, dist.get_rank(group), ranks),
                y,
                group=group,
                on_step=lambda step, seen=seen: seen.append(step.stage),
            )
            found[ranks] = dict(counts), seen, part.map, part.verdict.evidence
    return found
