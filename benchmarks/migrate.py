"""Embedding models brought together with nothing paired: the retrieval of a migrated store, known pairs, mini-vec2vec.

    python benchmarks/migrate.py --data DATA [--parts seeds store retrieval curve baseline] [--pairs minilm-mpnet …] [--texts 8000]
                                 [--device cuda] [--start auto|supervised] [--seeds 1 --first 0]
    python benchmarks/migrate.py --data DATA --calibrate

DATA/text holds minilm.npy, mpnet.npy and wordllama.npy: 18,000 texts in three models. Old vectors of rows 0–7,999 and new ones
of rows 8,000–15,999 (the first ``--texts`` of each) are all that a solve sees; rows 16,000–17,999 only score.

*seeds*: top-1 among the 2,000 scoring texts and objective, nothing known, beside a solve started at the supervised map (once a
pair, with the first seed).
*retrieval*: 16,000 old vectors are written through the adapter to a LanceDB table; recall@10 of 2,000 new queries in it, against
the new model's own exact search, beside supervised Procrustes (16,000 pairs) and the dry run's estimates: without pairs, and
from 500 pairs, drawn at random, that the solve does not see. *store*: the same, with old vectors of all 16,000 texts in the fit, as the command draws
them from the store: half of these texts are in the new sample too, nothing says which. *curve*: top-1 among the 2,000 scoring texts, with k known pairs in the solve, beside
Procrustes from the same pairs. *baseline*: the same with no pairs, beside mini-vec2vec. Each row goes to migrate.csv as it is
done, and a run that was stopped goes on; ``--start supervised`` starts the solves at the supervised map and says so.

``--calibrate`` prints the constants of migration/recall.py, fitted on MiniLM–wordllama and on word vectors (navec/, europarl*/),
and their errors on pairs of models that took no part: those with mpnet, and glove/, where one model is a part of the other.
"""

from __future__ import annotations

import argparse
import itertools
import math
import tempfile
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from growing_rows import add_row, read_rows
from provenance import header, write_page

import invarot
from invarot import migration, stores
from invarot.arrays import place, to_numpy
from invarot.baselines import mini_vec2vec
from invarot.experiments.provenance import describe_commit
from invarot.geometry.orthogonal import polar
from invarot.migration.recall import AT, DOUBLING, FIT, compare_clouds, estimate_recall, join_spaces, measure_recall
from invarot.words import read_vectors

MODELS = ("minilm", "mpnet", "wordllama")
KNOWN = (0, 5, 10, 20, 50, 100, 500)
HALF, STORE, CHECK = 8000, 16_000, 500
KEYS = ("part", "pair", "texts", "start", "seed", "k")
FIELDS = (*KEYS, "ours", "beside", "verdict", "free", "checked", "seconds", "device", "commit")
Row = dict[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--parts", nargs="+", default=list(PARTS))
    parser.add_argument("--pairs", nargs="+", default=["-".join(pair) for pair in itertools.permutations(MODELS, 2)])
    parser.add_argument("--texts", type=int, default=HALF)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--known", type=int, nargs="+", choices=KNOWN, default=list(KNOWN), help="pairs of a curve")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--start", choices=("auto", "supervised"), default="auto")
    parser.add_argument("--limit", type=float, default=math.inf, help="seconds after which nothing new is begun")
    parser.add_argument("--maps", type=Path, help="folder: seeds writes its maps there, retrieval starts at them")
    parser.add_argument("--calibrate", action="store_true")
    parser.add_argument("--out", type=Path, default=Path("results"))
    args = parser.parse_args()
    if args.calibrate:
        calibrate(args.data)
        return
    path = args.out / "migrate.csv"
    done = {tuple(row[key] for key in KEYS) for row in read_rows(path)}
    begun_all = time.perf_counter()
    for part, seed, pair in itertools.product(args.parts, range(args.first, args.first + args.seeds), args.pairs):
        for k in args.known if part == "curve" else (0,):
            key = (part, pair, str(args.texts), args.start, str(seed), str(k))
            if key in done or time.perf_counter() - begun_all > args.limit:
                continue
            begun = time.perf_counter()
            found = PARTS[part](args, *pair.split("-"), seed, k)
            row = {**dict(zip(KEYS, key, strict=True)), "device": args.device, "commit": describe_commit(),
                   "seconds": round(time.perf_counter() - begun, 1), **found}  # fmt: skip
            add_row(path, row, FIELDS)
            print(row, flush=True)
    summarise(path, args.out)


def load(data: Path, model: str) -> np.ndarray[Any, Any]:
    rows = np.load(data / "text" / f"{model}.npy").astype(np.float32)
    return unit(rows)


def unit(rows: Any) -> Any:
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def supervised(x: Any, y: Any) -> Any:
    return polar(x[:STORE].T @ y[:STORE])


# -- the three parts ---------------------------------------------------------------------------------------------------


def retrieval(args: argparse.Namespace, old: str, new: str, seed: int, _: int, *, whole_store: bool = False) -> Row:
    x, y = load(args.data, old), load(args.data, new)
    best = supervised(x, y)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        np.save(folder / "half.npy", x[: args.texts])
        np.save(folder / "all.npy", x[:STORE])
        pairs = np.random.default_rng(seed).permutation(args.texts)[:CHECK]
        rows = np.r_[HALF : HALF + args.texts, pairs]  # the last 500 are new vectors of old texts
        np.savez(folder / "sample.npz", vectors=y[rows], ids=rows)
        half, sample, whole = (stores.open(folder / one) for one in ("half.npy", "sample.npz", "all.npy"))
        start: Any = best if args.start == "supervised" else "auto"
        if args.maps is not None:
            start = np.load(args.maps / f"{old}-{new}.npy").astype(np.float32)
        check = [(int(k), int(k)) for k in pairs]
        source = whole if whole_store else half
        found = migration.fit(source, sample, check_pairs=check, sample=HALF, start=start, device=args.device, rng=seed)
        mapped = found.adapter.apply(x[:STORE])
        if find_spec("lancedb") is None:  # on a borrowed card: the same exact search, of the arrays
            hits, engine = nearest(y[STORE:], mapped), f"{args.device}, arrays"
        else:
            migration.map_store(whole, stores.open(f"lancedb:{folder}/db#mapped"), found.adapter)
            hits, engine = search_table(folder / "db", y[STORE:]), f"{args.device}, LanceDB"
    truth = nearest(y[STORE:], y[:STORE])
    left, right = np.setdiff1d(np.arange(args.texts), pairs), y[HALF : HALF + args.texts]
    # the pairs are what the solve did not see of either model
    free = estimate_recall(found.rotation.map, x[pairs], x[left], y[pairs], right, store=STORE)
    checked = measure_recall(mapped[pairs], y[pairs], others=(mapped[left], right), store=STORE)
    return {
        "ours": common(hits, truth), "beside": common(nearest(y[STORE:], unit(x[:STORE] @ best)), truth),
        "verdict": found.verdict.word, "free": round(free.value, 4), "checked": round(checked.value, 4),
        "device": engine,
    }  # fmt: skip


def search_table(folder: Path, queries: Any) -> Any:
    """Return the rows of the ten nearest of each query in the LanceDB table, searched exactly."""
    import lancedb

    table = lancedb.connect(str(folder)).open_table("mapped")
    found = []
    for query in queries:
        answer = (
            table.search(query, vector_column_name="vector")
            .distance_type("cosine")
            .limit(AT)
            .select(["id", "_distance"])
        )
        found.append(answer.to_arrow().column("id").to_pylist())
    return np.asarray(found)


def nearest(queries: Any, documents: Any) -> Any:
    return np.argpartition(-(queries @ documents.T), AT, axis=1)[:, :AT]


def common(found: Any, truth: Any) -> float:
    return round(float(np.mean([len({*a} & {*b}) / AT for a, b in zip(found, truth, strict=True)])), 4)


def find_row(args: argparse.Namespace, pair: str, seed: int) -> dict[str, str] | None:
    """Return the row of *seeds* for this solve, which the other parts need not run again."""
    for row in read_rows(args.out / "migrate.csv"):
        if [row[key] for key in KEYS] == ["seeds", pair, str(args.texts), args.start, str(seed), "0"]:
            return row
    return None


def curve(args: argparse.Namespace, old: str, new: str, seed: int, k: int) -> Row:
    row = None if k else find_row(args, f"{old}-{new}", seed)
    if row is not None:
        return {"ours": row["ours"], "verdict": row["verdict"], "seconds": row["seconds"]}
    x, y = load(args.data, old), load(args.data, new)
    left, right = x[: args.texts], y[HALF : HALF + args.texts]
    rows = np.random.default_rng(seed).permutation(args.texts)[:k]  # texts of the old side, embedded by both
    right = np.concatenate([y[rows], right])
    seeds = np.stack([rows, np.arange(k)], axis=1) if k else None
    start = supervised(x, y) if args.start == "supervised" else "auto"
    found = invarot.align(left, right, seeds=seeds, start=start, device=args.device, rng=seed)
    few = polar(x[rows].T @ y[rows]) if k else None
    beside = "" if few is None else top_one(x[STORE:] @ few, y[STORE:])
    return {"ours": top_one(x[STORE:] @ found.map, y[STORE:]), "beside": beside, "verdict": found.verdict.word}


def baseline(args: argparse.Namespace, old: str, new: str, seed: int, _: int) -> Row:
    x, y = load(args.data, old), load(args.data, new)
    left, right = x[: args.texts], y[HALF : HALF + args.texts]
    row = find_row(args, f"{old}-{new}", seed)
    if row is None:
        start = supervised(x, y) if args.start == "supervised" else "auto"
        found = invarot.align(left, right, start=start, device=args.device, rng=seed)
        ours: Row = {"ours": top_one(found.transform(x[STORE:]), y[STORE:]), "verdict": found.verdict.word}
    else:
        ours = {"ours": row["ours"], "verdict": row["verdict"]}
    theirs = mini_vec2vec(place(left, args.device), place(right, args.device), rng=seed).on_host()
    middle = right.mean(axis=0)  # their map is between centred rows: score it there
    return {**ours, "beside": top_one(theirs.transform(x[STORE:]) - middle, y[STORE:] - middle)}


def top_one(mapped: Any, y: Any) -> float:
    """Percent of texts whose own vector is the nearest among all scoring texts."""
    best = (unit(to_numpy(mapped)) @ unit(y).T).argmax(axis=1)
    return round(100 * float(np.mean(best == np.arange(len(y)))), 2)


def seeds(args: argparse.Namespace, old: str, new: str, seed: int, _: int) -> Row:
    """Nothing known, beside a solve that starts at the supervised map; the maps are kept in ``--maps``."""
    x, y = load(args.data, old), load(args.data, new)
    left, right = x[: args.texts], y[HALF : HALF + args.texts]
    begun = time.perf_counter()
    ours = invarot.align(left, right, device=args.device, rng=seed)
    took = time.perf_counter() - begun
    first = find_row(args, f"{old}-{new}", args.first) if seed > args.first else None
    if first is None:
        bound = invarot.align(left, right, start=supervised(x, y), device=args.device, rng=seed)
        beside: Row = {"beside": top_one(x[STORE:] @ bound.map, y[STORE:]), "checked": round(bound.objective, 5)}
    else:
        beside = {name: first[name] for name in ("beside", "checked")}
    if args.maps is not None and seed == 0:
        np.save(args.maps / f"{old}-{new}.npy", ours.map.astype(np.float16))
    print([(one.name, round(one.objective, 4)) for one in ours.starts if one.finished], len(ours.history), ours.verdict)
    return {
        "ours": top_one(x[STORE:] @ ours.map, y[STORE:]), "verdict": ours.verdict.word,
        "free": round(ours.objective, 5), "seconds": round(took, 1), **beside,
    }  # fmt: skip


def store(args: argparse.Namespace, old: str, new: str, seed: int, k: int) -> Row:
    """The same as ``invarot migrate`` does it: old vectors are drawn from the whole store."""
    return retrieval(args, old, new, seed, k, whole_store=True)


PARTS = {"seeds": seeds, "store": store, "retrieval": retrieval, "curve": curve, "baseline": baseline}


# -- the constants of the estimate -------------------------------------------------------------------------------------


def calibrate(data: Path) -> None:
    known = [case for name, x, y in paired_clouds(data) for case in cases(name, x, y)]
    fitted = [case for case in known if not case[0].startswith(HELD_OUT)]
    system = np.asarray([(1, np.log(1.02 - r), np.log(n)) for _, n, r, _ in fitted])
    recall = np.asarray([value for *_, value in fitted])
    constants = np.linalg.lstsq(system, np.log(1 - recall), rcond=None)[0]
    print("fitted now", constants.round(3).tolist(), "in the code", FIT)
    x, y = load(data, "minilm"), load(data, "wordllama")
    missed = [1 - true_recall(a, b, rows) for a, b in ((x, y), (y, x)) for rows in (4000, 8000, STORE)]
    growth = [after / before - 1 for before, after in itertools.pairwise(missed) if after > before]
    print("more missed a doubling, MiniLM–wordllama", np.round(growth, 3).tolist(), "in the code", DOUBLING)
    for name, n, r, value in known:
        guess = 1 - np.exp(np.dot(FIT, (1, np.log(1.02 - r), np.log(n))))
        print(
            f"{'not fitted' if name.startswith(HELD_OUT) else 'fitted'}: {name} {n} documents: recall {value:.3f}, off by {guess - value:+.3f}"
        )
    for old, new in itertools.permutations(MODELS, 2):
        print(f"{old}-{new}, supervised map, 16,000 rows:", *check_estimates(load(data, old), load(data, new)))


HELD_OUT = "minilm-mpnet", "mpnet-wordllama", "glove"


def check_estimates(x: Any, y: Any) -> Iterator[str]:
    """Say how far both estimates are off for the supervised map, whose recall is known; three draws of 500 pairs."""
    turn, right = supervised(x, y), y[HALF:STORE]
    mapped, truth = unit(x @ turn), true_recall(x, y, STORE)
    yield f"recall {truth:.4f}, off by"
    for seed in range(3):
        pairs = np.random.default_rng(seed).permutation(HALF)[:CHECK]
        left = np.setdiff1d(np.arange(HALF), pairs)
        found = measure_recall(mapped[pairs], y[pairs], others=(mapped[left], right), store=STORE)
        yield f"{found.value - truth:+.3f}"
    old, new = np.split(np.arange(STORE, len(x)), 2)
    yield f"from 500 pairs, {estimate_recall(turn, x[old], x[:HALF], y[new], right, store=STORE).value - truth:+.3f} without"


def paired_clouds(data: Path) -> Iterator[tuple[str, Any, Any]]:
    """The same texts or words in two spaces, both directions."""
    models = [("minilm", "wordllama"), ("minilm", "mpnet"), ("mpnet", "wordllama")]
    found = [(f"{old}-{new}", load(data, old), load(data, new)) for old, new in models]
    for name, left, right in (("glove", "glove/en-glove50", "glove/en-glove100"), ("navec", "navec/hudlit", "navec/news"),
                              ("europarl", "europarl100/en", "europarl300/en")):  # fmt: skip
        a, b = (read_vectors(data / f"{one}.npz", max_words=12_000) for one in (left, right))
        place_in_b = {word: k for k, word in enumerate(b.words)}
        both = [(k, place_in_b[word]) for k, word in enumerate(a.words) if word in place_in_b]
        sides = (unit(a.vectors[[k for k, _ in both]]), unit(b.vectors[[k for _, k in both]]))
        found.append((name, *(unit(side - side.mean(axis=0)) for side in sides)))
    for name, x, y in found:
        yield name, x, y
        yield f"{name} back", y, x


def cases(name: str, x: Any, y: Any) -> Iterator[tuple[str, int, float, float]]:
    """Name, documents, the ratio that needs no pairs, and the true recall, for several sizes."""
    order = np.random.default_rng(0).permutation(len(x))
    x, y = x[order], y[order]
    turn = polar(x.T @ y)
    mapped = unit(x @ turn)
    for size in (1250, 2500, 5000, 9000):
        if 2 * size <= len(x):
            asked = min(1000, size // 5)
            held, other = slice(asked), slice(size, size + asked)
            clouds = join_spaces(turn, (x[held], x[asked:size]), (y[other], y[size + asked : 2 * size]))
            r, documents = compare_clouds(*clouds)
            truth = nearest(y[:asked], y[asked:size])
            yield name, documents, r, common(nearest(y[:asked], mapped[asked:size]), truth)


def true_recall(x: Any, y: Any, rows: int) -> float:
    return common(nearest(y[STORE:], unit(x[:rows] @ supervised(x, y))), nearest(y[STORE:], y[:rows]))


# -- the page ----------------------------------------------------------------------------------------------------------


def summarise(path: Path, out: Path) -> None:
    from migrate_page import make_page

    rows = read_rows(path)
    print(write_page(out / "migrate.md", [*header("python benchmarks/migrate.py --data DATA"), *make_page(rows, out)]))


if __name__ == "__main__":
    main()
