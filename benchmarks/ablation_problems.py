"""The problems on which benchmarks/ablation.py changes the solver: six sets, each with a score in [0, 1] and a test of whether a map is right.

synthetic   noisy copies (four kinds of cloud, 3 to 100 dimensions, 50 and 200 points), two samples of one shape, unrelated clouds,
            copies of 4,000 points, single random starts on few points. Score: the share of the matches that are right; of samples, the
            error of the solve from the true map over that of the map. *Solved*: as high as the solve from the true map less 1 %
            (of samples, 10 %). Unrelated clouds have score 0.
verdict     families of benchmarks/verdict (development and report), solved from ``auto`` and from a random map. Score: 1 − FOSCTTM;
            solved: 0.95.
part        shapes cut, resampled, with outliers or noise, and clusters without a counterpart; ``overlap="auto"``. Score: 1 less the angle
            to the truth over 180°, or the share of the common points that are right. Solved: within 2° and 2 % of the extent, or 0.95.
words       English with Spanish, French and German, Europarl 100-d. Score: P@1 on the train split; solved: within 0.02 of the
            solve from the supervised map.
hard pair   English GloVe 100-d, French fastText 300-d; likewise.
pairs       GloVe 50-d and 100-d, likewise; SNARE-seq: 1 − FOSCTTM, solved within 0.01 of the solve from the true pairs.

Words: 5,000 of each side, orders destroyed.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from partial_pairs import cluster_pair, read_shape, shape_pair
from synthetic import KINDS, cloud, map_error

import invarot

Solve = Callable[[], invarot.Alignment]
Judge = Callable[[invarot.Alignment], tuple[float, bool]]  # the score, and whether it is solved
Task = tuple[Any, ...]

WORDS = {
    "words": {f"europarl100-{one}": ("europarl100/en", f"europarl100/{one}", one) for one in ("es", "fr", "de")},
    "hard pair": {"glove-fasttext": ("glove/en-glove100", "glove/fr-fasttext300", "fr")},
    "pairs": {"glove": ("glove/en-glove50", "glove/en-glove100", "")},
}
FAMILIES = (
    "gaussian",
    "mixture",
    "gamma",
    "sheet",
    "curve",
    "graphs",
    "networks",
    "heavy",
    "surface",
    "trajectories",
    "blocks",
)
SETS = ("synthetic", "verdict", "part", *WORDS)


def list_tasks(name: str, seeds: range, data: Path | None) -> list[Task]:
    """The problems of a set, by name; those that need data only where there is some."""
    if name == "synthetic":
        return [task for seed in seeds for task in list_synthetic(seed)]
    if name == "verdict":
        return [(family, way, seed) for seed in seeds for family in FAMILIES for way in ("auto", "random")]
    if name == "part":
        found: list[Task] = [
            ("clusters", d, sides, seed) for seed in seeds for d in (3, 10) for sides in ("one", "both")
        ]
        if data is not None:
            cases = ("cut-50", "resampled-70", "outliers-20", "noise-1")
            found += [("stanford-bunny", case, "", seed) for seed in seeds for case in cases]
        return found
    if data is None:
        return []
    pairs = [(pair, seed) for seed in seeds for pair in WORDS[name]]
    return pairs + [("snare", seed) for seed in seeds if name == "pairs"]


def list_synthetic(seed: int) -> list[Task]:
    copies = itertools.product(KINDS, (3, 10, 30, 100), (50, 200), (0.05, 0.2))
    return [
        *(("copies", kind, d, n, noise, seed) for kind, d, n, noise in copies),
        *(("samples", kind, d, n, 0.0, seed) for kind, d, n in itertools.product(("clustered", "surface"), (3, 10, 30), (50, 200))),
        *(("unrelated", kind, d, 200, 0.0, seed) for kind, d in itertools.product(KINDS, (3, 30))),
        *(("random start", kind, d, 30, 0.1, seed) for kind, d in itertools.product(KINDS, (3, 5, 30))),
        *(("many points", kind, 50, 4000, 0.1, seed) for kind in ("gaussian", "clustered")),
    ]  # fmt: skip


def open_problem(name: str, task: Task, data: Path | None, device: str) -> tuple[Solve, Judge]:
    """A function that solves the problem, and one that scores an alignment."""
    if name == "synthetic":
        return open_synthetic(task)
    if name == "verdict":
        return open_verdict(task)
    if name == "part":
        return open_part(task, data)
    assert data is not None
    return open_cells(task, data) if task[0] == "snare" else open_words(name, task, data, device)


def draw_synthetic(task: Task) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray | None]:
    """Both clouds, the true map, and the true matches where there are some."""
    case, kind, d, n, noise, seed = task
    rng = np.random.default_rng([seed, n, d, KINDS.index(kind)])
    turn = np.linalg.qr(rng.standard_normal((d, d)))[0]
    shape = seed * 1000 + d
    x = cloud(kind, n, d, rng, np.random.default_rng(shape))
    if case == "samples":
        return x, cloud(kind, int(1.2 * n), d, rng, np.random.default_rng(shape)) @ turn, turn, None
    if case == "unrelated":
        other = KINDS[(KINDS.index(kind) + 1 + seed % 3) % 4]
        return x, cloud(other, n, d, rng, np.random.default_rng(shape + 7)) @ turn, turn, None
    order = rng.permutation(n)
    y = (x @ turn)[order]
    y = y + noise * np.sqrt(np.mean(np.var(y, axis=0))) * rng.standard_normal(y.shape)
    return x, y, turn, np.argsort(order)


def open_synthetic(task: Task) -> tuple[Solve, Judge]:
    x, y, turn, truth = draw_synthetic(task)
    options: dict[str, Any] = {"start": "random"} if task[0] == "random start" else {}
    best = invarot.align(x, y, start=turn)

    def judge(result: invarot.Alignment) -> tuple[float, bool]:
        if task[0] == "unrelated":
            return 0.0, False
        if truth is None:
            least, error = (map_error(x, one.map, turn) + 1e-3 for one in (best, result))
            return min(1.0, least / error), error <= 1.1 * least
        share = float(np.mean(result.matches() == truth))
        return share, bool(share >= np.mean(best.matches() == truth) - 0.01)

    return lambda: invarot.align(x, y, rng=task[-1], **options), judge


def open_verdict(task: Task) -> tuple[Solve, Judge]:
    from benchmarks.verdict import families, solves
    from benchmarks.verdict.fit import FINE

    family, way, seed = task
    makers = {**families.development(Path()), **families.report(Path())}
    pair = solves.draw(makers[family], family, seed)
    start = solves.start_of(pair, way, np.random.default_rng([seed, solves.WAYS.index(way)]))

    def judge(result: invarot.Alignment) -> tuple[float, bool]:
        if not pair.related:
            return 0.0, False
        joint = None if pair.joint is None else result.transform(pair.joint[0])
        miss = float(solves.truth_of(pair, result.transform(pair.x), joint)[0])
        return 1 - miss, miss <= FINE

    return lambda: invarot.align(pair.x, pair.y, rng=seed, **pair.options, **start), judge


def open_part(task: Task, data: Path | None) -> tuple[Solve, Judge]:
    name, case, sides, seed = task
    if name == "clusters":
        x, y, truth = cluster_pair(case, 3, sides, seed, points=400)
    else:
        assert data is not None
        x, y, truth = shape_pair(read_shape(data / "shapes" / f"{name}.obj"), case, seed, points=500)
    options: dict[str, Any] = {"p": invarot.Rotations(), "translate": True, "overlap": "auto"}

    def judge(result: invarot.Alignment) -> tuple[float, bool]:
        if name == "clusters":
            assert truth.matches is not None
            share = float(np.mean((result.matches() == truth.matches)[truth.common_x]))
            return share, share >= 0.95
        assert truth.map is not None
        assert truth.offset is not None
        turn = np.degrees(np.arccos(np.clip((np.trace(result.map.T @ truth.map) - 1) / 2, -1, 1)))
        common = x[truth.common_x]
        off = np.linalg.norm((common @ (result.map - truth.map) + result.offset - truth.offset).mean(axis=0))
        return float(1 - turn / 180), bool(turn <= 2 and off <= 0.02 * truth.extent)

    return lambda: invarot.align(x, y, rng=seed, **options), judge


def open_cells(task: Task, data: Path) -> tuple[Solve, Judge]:
    _, seed = task
    folder = data / "snare"
    x, y = (np.load(folder / f"SNAREseq_{assay}_feat.npy").astype(np.float64) for assay in ("atac", "rna"))
    x, y = (points / np.linalg.norm(points, axis=1, keepdims=True) for points in (x, y))
    order = np.random.default_rng(seed).permutation(len(y))
    u, _, vt = np.linalg.svd((x - x.mean(0)).T @ (y - y.mean(0)), full_matrices=False)

    def miss(result: invarot.Alignment) -> float:
        moved = result.transform(x)
        far = np.sum(moved**2, axis=1)[:, None] + np.sum(y**2, axis=1) - 2 * moved @ y.T
        return float(np.mean(far < far.diagonal()[:, None]) + np.mean(far < far.diagonal())) / 2

    def solve(**start: Any) -> invarot.Alignment:
        return invarot.align(x, y[order], translate=True, scale=True, rng=seed, **start)

    bar = miss(solve(start=u @ vt)) + 0.01

    def judge(result: invarot.Alignment) -> tuple[float, bool]:
        missed = miss(result)
        return 1 - missed, missed <= bar

    return solve, judge


def open_words(name: str, task: Task, data: Path, device: str) -> tuple[Solve, Judge]:
    from invarot.arrays import as_like, place
    from invarot.retrieval.metrics import evaluate
    from invarot.words import Preprocessing, read_vectors

    pair, seed = task
    *files, language = WORDS[name][pair]
    sides = [read_vectors(data / f"{file}.npz", max_words=5000) for file in files]
    x, y = (Preprocessing().fit_apply(side.vectors)[1] for side in sides)
    index = [side.index() for side in sides]
    pairs = [(word, word) for word in index[0]]
    if language:
        lines = (data / "muse" / f"en-{language}.0-5000.txt").read_text(encoding="utf-8").splitlines()
        pairs = [(line.split()[0], line.split()[1]) for line in lines]
    gold: dict[int, set[int]] = {}
    for source, target in pairs:
        if source in index[0] and target in index[1]:
            gold.setdefault(index[0][source], set()).add(index[1][target])
    known = np.asarray([(i, j) for i, many in gold.items() for j in many])
    u, _, vt = np.linalg.svd(x[known[:, 0]].T @ y[known[:, 1]], full_matrices=False)
    order = np.random.default_rng(seed).permutation(len(x))
    whole, here, there = place(x, device), place(x[order], device), place(y, device)

    def score(result: invarot.Alignment) -> float:
        return evaluate(whole @ as_like(result.map, whole), there, gold, at=(1,)).precision[1]

    bar = score(invarot.align(here, there, start=u @ vt)) - 0.02

    def judge(result: invarot.Alignment) -> tuple[float, bool]:
        found = score(result)
        return found, found >= bar

    return lambda: invarot.align(here, there, rng=seed), judge
