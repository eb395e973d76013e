"""Solve the problems of a group of families, rightly and wrongly, and keep the maps.

    OMP_NUM_THREADS=1 python -m benchmarks.verdict.solves --group development --seeds 0 60 --data DATA

A problem is drawn by (family, seed). It is solved from ``start="auto"`` (quick), from its true map, from a random map, from
the true map with some axes reflected, and from a mixture of truth and chance, as the seed says. Writes
results/raw/verdict.GROUP/FAMILY.SEED.npz: the maps in the coordinates of the solve, with their true FOSCTTM, label transfer,
rivals and seconds. A run that was stopped goes on where it was; a family whose data are missing is left out, and the run says so.
"""

from __future__ import annotations

import argparse
import time
import warnings
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

import invarot
from invarot.alignment.align import _check_groups
from invarot.alignment.problem import Problem, pose
from invarot.geometry.orthogonal import polar

from .clouds import Array, Pair, Rng
from .families import GROUPS, Maker

WAYS = ("auto", "truth", "random", "flip", "mix")
WIDE = 4096  # entries of a map


def draw(make: Maker, family: str, seed: int) -> Pair:
    return make(np.random.default_rng([seed, *family.encode()]))


def pose_pair(pair: Pair) -> Problem:
    """The problem as align poses it."""
    options = dict(pair.options)
    maps, solver, _ = _check_groups(options.pop("p", np.inf), None, None)
    even = (np.full(len(side), 1 / len(side)) for side in (pair.x, pair.y))
    return pose(pair.x, pair.y, *even, maps=maps, solver=solver, **options)


def true_map(pair: Pair) -> Array:
    """The best orthogonal map for the known pairs, in the original coordinates."""
    if pair.joint is not None:
        left, right = pair.joint
    elif pair.places is not None:
        left, right = pair.x, pair.places
    elif pair.pairs is not None:
        left, right = pair.x[pair.pairs[:, 0]], pair.y[pair.pairs[:, 1]]
    else:
        raise ValueError("unrelated clouds have no true map")
    if pair.options.get("translate"):
        left, right = left - left.mean(0), right - right.mean(0)
    return polar(left.T @ right)


def start_of(pair: Pair, way: str, rng: Rng) -> dict[str, Any]:
    dx, dy = pair.x.shape[1], pair.y.shape[1]
    chance = polar(rng.standard_normal((dx, dy)))
    if way == "auto":
        return {"effort": "quick"}
    if way == "random" or not pair.related:
        return {"start": chance}
    right = true_map(pair)
    if way == "flip":
        _, axes = np.linalg.eigh(np.cov(pair.x.T) if dx > 1 else np.eye(1))
        signs = np.ones(dx)
        signs[rng.permutation(dx)[: max(1, dx // int(rng.integers(2, 5)))]] = -1
        signs[-1] *= rng.choice([-1, 1])
        return {"start": (axes * signs) @ axes.T @ right}
    if way == "mix":
        share = rng.uniform(0.15, 0.5)
        return {"start": polar(share * right + (1 - share) * chance)}
    return {"start": right}


def nearer(z: Array, y: Array, right: Array) -> Array:
    """Share of the rows of y nearer to each row of z than its own place ``right``."""
    far = np.sum(z**2, axis=1)[:, None] + np.sum(y**2, axis=1) - 2 * z @ y.T
    own = np.sum((z - right) ** 2, axis=1)
    slack = 1e-9 * np.mean(np.sum(y**2, axis=1))
    return np.mean(far < own[:, None] - slack, axis=1)


def truth_of(pair: Pair, moved: Array, joint: Array | None = None) -> tuple[float, float]:
    """The true FOSCTTM of the moved points, both ways, and the transfer of labels (or nan).

    ``joint``: all points of x's view, moved, where the clouds are disjoint parts of them.

    Clouds that have nothing to do with each other have none: one half, as chance gives.
    """
    if joint is not None and pair.joint is not None:
        there = pair.joint[1]
        found = float(np.mean(nearer(joint, there, there)) + np.mean(nearer(there, joint, joint))) / 2
    elif pair.places is not None:
        # among the places of the other points: y may lie farther off than any of them, where a map shortens rows
        found = float(np.mean(nearer(moved, pair.places, pair.places)) + np.mean(nearer(pair.places, moved, moved))) / 2
    elif pair.pairs is None:
        return 0.5, float("nan")
    else:
        left, right = moved[pair.pairs[:, 0]], pair.y[pair.pairs[:, 1]]
        found = float(np.mean(nearer(left, pair.y, right)) + np.mean(nearer(right, moved, left))) / 2
    return found, transfer(pair, moved) if pair.labels is not None else float("nan")


def transfer(pair: Pair, moved: Array, k: int = 5) -> float:
    """Share of the targets that get their label from their k nearest moved points, the mean over the labels."""
    assert pair.labels is not None
    given, true = pair.labels
    far = np.sum(moved**2, axis=1)[:, None] + np.sum(pair.y**2, axis=1) - 2 * moved @ pair.y.T
    voted = np.asarray([np.bincount(votes).argmax() for votes in given[np.argsort(far, axis=0)[:k]].T])
    return float(np.mean([np.mean(voted[true == one] == one) for one in np.unique(true)]))


def solve(pair: Pair, seed: int, ways: tuple[str, ...]) -> dict[str, Array]:
    """Solve a pair each way; a row a way."""
    problem = pose_pair(pair)
    rows: dict[str, list[Any]] = {name: [] for name in ("way", "map", "foscttm", "transfer", "rivals", "better", "seconds", "word", "probability")}  # fmt: skip
    for way in ways:
        rng = np.random.default_rng([seed, WAYS.index(way)])
        begin = time.perf_counter()
        result = invarot.align(pair.x, pair.y, rng=seed, **pair.options, **start_of(pair, way, rng))
        rows["seconds"].append(time.perf_counter() - begin)
        inner = problem.frame_x.inverse @ result.map @ problem.frame_y.linear
        if problem.scale:
            inner = problem.maps.fit(inner[None])[0]
        rows["way"].append(way)
        rows["map"].append(inner.astype(np.float32))
        joint = None if pair.joint is None else result.transform(pair.joint[0])
        share, labels = truth_of(pair, result.transform(pair.x), joint)
        rows["foscttm"].append(share)
        rows["transfer"].append(labels)
        evidence = result.verdict.evidence
        rows["rivals"].append(evidence.rivals)
        rows["better"].append(evidence.better)
        rows["word"].append(result.verdict.word)
        rows["probability"].append(result.verdict.probability)
    return {name: np.asarray(values) for name, values in rows.items()}


def choose_ways(pair: Pair, seed: int) -> tuple[str, ...]:
    """The solves of a problem: always from auto; two of the other ways, in turn. Large problems are solved from given starts."""
    if not pair.related:
        return ("auto", "random") if seed % 2 else ("auto",)
    others = (("truth", "random"), ("flip", "mix"), ("truth", "flip"), ("random", "mix"))[seed % 4]
    return ("auto", *others)


def keep(group: str, data: Path, family: str, seed: int, path: Path) -> str:
    """Solve one problem and keep its maps at ``path``; returns why not, where its data are missing.

    Wide maps are kept in half precision: their points are far apart.
    """
    warnings.simplefilter("ignore")
    try:
        pair = draw(GROUPS[group](data)[family], family, seed)
    except (FileNotFoundError, ModuleNotFoundError) as missing:
        return f"{family} is left out: {missing}"
    rows = solve(pair, seed, choose_ways(pair, seed))
    if rows["map"][0].size > WIDE:
        rows["map"] = rows["map"].astype(np.float16)
    part = path.with_suffix(".part")
    with part.open("wb") as file:
        np.savez(file, name=pair.name, related=pair.related, **rows)
    part.rename(path)  # a file that is there is whole
    return ""


def keep_before(end: float, task: tuple[str, Path, str, int, Path]) -> str:
    """Do a task unless it is too late; the clock is the machine's."""
    return keep(*task) if time.monotonic() < end else ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--group", choices=tuple(GROUPS), required=True)
    parser.add_argument("--seeds", nargs=2, type=int, default=(0, 40))
    parser.add_argument("--families", nargs="*", default=None)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, default=Path("results/raw"))
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument(
        "--minutes", type=float, default=float("inf"), help="stop after so many; families advance evenly"
    )
    args = parser.parse_args()
    folder = args.out / f"verdict.{args.group}"
    folder.mkdir(parents=True, exist_ok=True)
    end = time.monotonic() + 60 * args.minutes
    families = [one for one in GROUPS[args.group](args.data) if not args.families or one in args.families]
    tasks = [(args.group, args.data, family, seed, folder / f"{family.replace(' ', '_')}.{seed}.npz")
             for seed in range(*args.seeds) for family in families]  # fmt: skip
    said: set[str] = set()
    with ProcessPoolExecutor(args.processes, mp_context=get_context("spawn")) as pool:
        for found in as_completed([pool.submit(keep_before, end, task) for task in tasks if not task[-1].exists()]):
            why = found.result()
            if why and why.partition(":")[0] not in said:
                said.add(why.partition(":")[0])
                print(why, flush=True)
    print(f"{len(list(folder.glob('*.npz')))} problems in {folder}")


if __name__ == "__main__":
    main()
