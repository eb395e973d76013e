"""What the passes that followed the race were worth, at commit 7e735e2, by monkeypatching alone.

    git worktree add OLD 7e735e2 && cd OLD        # and this file beside its benchmarks
    OMP_NUM_THREADS=1 PYTHONPATH=src:benchmarks python benchmarks/ablation_passes.py --minutes 60 --jobs 2

Each problem is solved once as it is (baseline), with every pass traced. A variant is
  same     not solved again where the trace shows that it cannot end elsewhere: baseline less the CPU seconds of the pass;
  replay   the passes after the race done again from the state the race ended in (those seconds in place of the baseline's);
  again    the whole of align() again.
Seconds are CPU seconds of align() (time.process_time). Rows go to results/raw/ablation_passes.csv.
"""

from __future__ import annotations

import argparse, csv, importlib, itertools, sys, time, warnings
from collections import defaultdict
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np

import invarot
from synthetic import KINDS, map_error
from synthetic import cloud as synthetic_cloud

M = {
    name: importlib.import_module(f"invarot.alignment.{name}")
    for name in ("race", "outcome", "alternate", "mirrors", "regroup", "search", "challenge")
}
HERE = Path("results/raw")
clock = time.process_time
OFF = ("mirrors", "symmetry", "regroup", "challenge", "told-apart", "lenient", "hopeless")
VARIANTS = (*OFF, "all-off", "mirrors-all", "regroup-swap", "regroup-groups")
FIELDS = (
    "family",
    "case",
    "kind",
    "d",
    "n",
    "noise",
    "seed",
    "start",
    "variant",
    "how",
    "seconds",
    "found",
    "reference",
    "error",
    "reference_error",
    "objective",
    "reference_objective",
    "word",
    "probability",
    "rivals",
    "better",
    "good",
    "right",
)


# ---- variants ---------------------------------------------------------------------------------------------------------
def swap_only(problem, w, rng):
    r = M["regroup"]
    whole_x, whole_y = (r.to_numpy(points).astype(np.float64) for points in (problem.x, problem.y))
    match = r._assign(whole_x @ r.to_numpy(w).astype(np.float64) @ whole_y.T)
    x, y = r._compact(whole_x), r._compact(whole_y)
    first = match = r._settle(x, y, match)
    best = r._score(x, y, match)
    if best >= (1 - 1e-9) * float(np.sum(np.linalg.norm(x, axis=1) * np.linalg.norm(y[match], axis=1))):
        return None
    best, match = r._swapped(x, y, match, best)
    return None if match is first else r.as_like(r._polar(whole_x.T @ whole_y[match], full=True), w)


PATCHES = {
    "mirrors": [("race", "mirrored", lambda tried, outcome: outcome)],
    "symmetry": [("race", "unnoticed", lambda tried, outcome: outcome)],
    "regroup": [("race", "regrouped", lambda tried, outcome: outcome)],
    "challenge": [("race", "challenged", lambda problem, settings, outcome: outcome)],
    "told-apart": [("outcome", "_told_apart", lambda tried, equals: equals)],
    "lenient": [
        ("alternate", "_stuck", lambda records, settings: False)
    ],  # asked only where lenient: the same as False
    "hopeless": [("race", "_hopeless", lambda problem, settings, w: False)],
    "mirrors-all": [("mirrors", "_promising", lambda problem, settings, maps, plan: maps[1:])],
    "regroup-swap": [("outcome", "regroup", swap_only)],
    "regroup-groups": [("regroup", "_swapped", lambda x, y, match, best: (best, match))],
}
PATCHES["all-off"] = [one for name in OFF for one in PATCHES[name]]


@contextmanager
def patched(patches):
    old = [(module, name, getattr(M[module], name)) for module, name, _ in patches]
    try:
        for module, name, new in patches:
            setattr(M[module], name, new)
        yield
    finally:
        for module, name, was in old:
            setattr(M[module], name, was)


# ---- tracing ----------------------------------------------------------------------------------------------------------
class Trace:
    def __init__(self):
        self.seconds = defaultdict(float)
        self.changed = set()
        self.state = None
        self.sharp = {}

    def patches(self):
        race, outcome, alternate, mirrors, regroup = (
            M[k] for k in ("race", "outcome", "alternate", "mirrors", "regroup")
        )

        def timed(key, function):
            def call(*args):
                begun = clock()
                got = function(*args)
                self.seconds[key] += clock() - begun
                if got is not args[-1]:
                    self.changed.add(key)
                return got

            return call

        timed_mirrored = timed("mirrors", race.mirrored)

        def mirrored(tried, found):
            self.state = self.copy(tried), found
            return timed_mirrored(tried, found)

        def challenged(problem, settings, found, was=race.challenged):
            begun = clock()
            got = was(problem, settings, found)
            self.seconds["challenge"] += clock() - begun
            if got.verdict.word != found.verdict.word:
                self.changed.add("challenge")
            return got

        def told(tried, equals, was=outcome._told_apart):
            begun = clock()
            got = was(tried, equals)
            spent = clock() - begun - self.sharp.pop(id(got[0]), 0.0)  # the winner is sharpened anyway
            if len(equals) > 1:
                self.seconds["told-apart"] += max(spent, 0.0)
            if len(got) != len(equals) or any(p is not q for p, q in zip(got, equals)):
                self.changed.add("told-apart")
            return got

        def sharpen(tried, one, was=outcome._sharpen):
            begun = clock()
            got = was(tried, one)
            self.sharp[id(one)] = clock() - begun
            return got

        def stuck(records, settings, was=alternate._stuck):
            got = was(records, settings)
            if got:
                self.changed.add("lenient")
            return got

        def hopeless(problem, settings, w, was=race._hopeless):
            begun = clock()
            got = was(problem, settings, w)
            self.seconds["hopeless"] += clock() - begun
            if got:
                self.changed.add("hopeless")
            return got

        def promising(problem, settings, maps, plan, was=mirrors._promising):
            got = was(problem, settings, maps, plan)
            if got.shape[0] < maps.shape[0] - 1:
                self.changed.add("mirrors-all")
            return got

        def swapped(x, y, match, best, was=regroup._swapped):
            self.changed |= {"regroup-swap", "regroup-groups"}
            return was(x, y, match, best)

        return [
            ("race", "mirrored", mirrored),
            ("race", "unnoticed", timed("symmetry", race.unnoticed)),
            ("race", "regrouped", timed("regroup", race.regrouped)),
            ("race", "challenged", challenged),
            ("outcome", "_told_apart", told),
            ("outcome", "_sharpen", sharpen),
            ("alternate", "_stuck", stuck),
            ("race", "_hopeless", hopeless),
            ("mirrors", "_promising", promising),
            ("regroup", "_swapped", swapped),
        ]

    @staticmethod
    def copy(tried):
        return replace(tried, finishes=list(tried.finishes), dropped=list(tried.dropped), sharp=dict(tried.sharp))

    @property
    def after(self):
        return sum(self.seconds[key] for key in ("mirrors", "symmetry", "regroup", "challenge"))


# ---- problems ---------------------------------------------------------------------------------------------------------
def shape_cloud(kind, rng):
    if kind == "grid":
        i, j = np.meshgrid(np.arange(5.0), np.arange(10.0))
        x = np.stack([i.ravel(), j.ravel()], 1)
    elif kind == "box":
        x = np.stack([g.ravel() for g in np.meshgrid(np.arange(3.0), np.arange(4.0), np.arange(5.0))], 1)
    elif kind == "star":
        t = np.linspace(0, 2 * np.pi, 40, endpoint=False)
        x = np.stack([np.cos(t), np.sin(t)], 1) * np.where(np.arange(40) % 8 == 0, 1.5, 1.0)[:, None]
    elif kind == "mirrored-3":
        x = rng.gamma(2.0, size=(60, 3)) * (1.5, 1.0, 0.6)
        x = np.concatenate([x, x * (1, 1, -1)])
    else:  # mirrored-10
        x = rng.gamma(2.0, size=(60, 10)) * np.linspace(1.5, 0.5, 10)
        x = np.concatenate([x, x * np.r_[np.ones(9), -1]])
    return x - x.mean(0) if kind in ("grid", "box") else x


def pose(task):
    """x, y, turn, truth, options."""
    family, case, kind, d, n, noise, seed, start = task
    options = {"rng": seed}
    if start != "auto":
        options |= {"start": start} | ({"n_starts": 1} if start == "random" else {})
    if family == "shape":
        rng = np.random.default_rng([seed, 99])
        x = shape_cloud(kind, rng)
        turn = np.linalg.qr(rng.standard_normal((x.shape[1],) * 2))[0]
        order = rng.permutation(len(x))
        y = (x @ turn)[order]
        return (
            x,
            y + noise * np.sqrt(np.mean(np.var(y, axis=0))) * rng.standard_normal(y.shape),
            turn,
            np.argsort(order),
            options,
        )
    rng = np.random.default_rng([seed, n, d, KINDS.index(kind)])
    form = seed * 1000 + d
    if family == "far":

        def cloud(kind, n, d, rng, shape):
            centres, weights = 2 * shape.standard_normal((8, d)), shape.dirichlet(np.ones(8))
            return centres[rng.choice(8, n, p=weights)] + 0.1 * rng.standard_normal((n, d))
    else:
        cloud = synthetic_cloud
    turn = np.linalg.qr(rng.standard_normal((d, d)))[0]
    x = cloud(kind, n, d, rng, np.random.default_rng(form))
    truth = None
    if family == "proper":
        options["proper"] = True
        turn[0] *= np.sign(np.linalg.det(turn)) * (1 if case in ("exact", "noisy") else -1)
    if case == "samples":
        y = cloud(kind, int(1.2 * n), d, rng, np.random.default_rng(form)) @ turn
    elif case == "unrelated":  # another kind of cloud or another form of it
        shift = seed % 4 if kind in ("clustered", "surface") else 1 + seed % 3  # two Gaussians would be no strangers
        y = cloud(KINDS[(KINDS.index(kind) + shift) % 4], n, d, rng, np.random.default_rng(form + 7)) @ turn
    else:
        order = rng.permutation(n)
        y = (x @ turn)[order]
        y = y + noise * np.sqrt(np.mean(np.var(y, axis=0))) * rng.standard_normal(y.shape)
        truth = np.argsort(order)
    return x, y, turn, truth, options


def run(task):
    warnings.simplefilter("ignore")
    family, case, kind, d, n, noise, seed, start = task
    x, y, turn, truth, options = pose(task)
    related = case in ("exact", "noisy", "samples")
    reference = None
    if related:
        with patched(PATCHES["challenge"]):  # it changes the verdict alone, and costs
            reference = invarot.align(x, y, start=turn, **({"proper": True} if family == "proper" else {}))
    known = {}
    if reference is not None:
        known = {
            "reference_error": map_error(x, reference.map, turn),
            "reference_objective": reference.objective,
            "reference": "" if truth is None else float(np.mean(reference.matches() == truth)),
        }
        if case == "exact":
            known["reference"] = 1.0

    def row(variant, how, seconds, result):
        error = map_error(x, result.map, turn)
        found = "" if truth is None else float(np.mean(result.matches() == truth))
        good = right = False
        if related and family != "shape":  # of a symmetric shape no one map is right
            if case == "exact":
                good = found >= 0.99
            elif case == "noisy":
                good = found >= known["reference"] - 0.01
            else:
                good = error <= 1.1 * known["reference_error"] + 1e-3
            right = error <= 2 * known["reference_error"] + 0.1
            right = right or (truth is not None and found >= 0.8 * known["reference"])
        return (
            dict(zip(FIELDS, task))
            | known
            | {
                "variant": variant,
                "how": how,
                "seconds": round(seconds, 4),
                "found": found,
                "error": error,
                "objective": result.objective,
                "word": result.verdict.word,
                "probability": round(result.verdict.probability, 4),
                "rivals": result.verdict.evidence.rivals,
                "better": result.verdict.evidence.better,
                "good": int(good),
                "right": int(right),
            }
        )

    trace = Trace()
    with patched(trace.patches()):
        begun = clock()
        base = invarot.align(x, y, **options)
        whole = clock() - begun
    rows = [row("baseline", "", whole, base)]

    def replayed(variant):
        spent = []

        def stub(problem, coming, settings, **_):
            race = M["race"]
            tried, found = trace.copy(trace.state[0]), trace.state[1]
            begun = clock()
            found = race.regrouped(tried, race.unnoticed(tried, race.mirrored(tried, found)))
            if settings.proper:
                found = race.challenged(problem, replace(settings, proper=False), found)
            spent.append(clock() - begun)
            return found

        with patched([("search", "race", stub), *PATCHES.get(variant, [])]):
            result = invarot.align(x, y, **options)
        return row(variant, "replay", whole - trace.after + spent[0], result)

    def again(variant):
        with patched(PATCHES[variant]):
            begun = clock()
            result = invarot.align(x, y, **options)
            return row(variant, "again", clock() - begun, result)

    if trace.state is not None and seed == 0:  # the replay itself, checked
        check = replayed("baseline-replayed")
        assert (check["objective"], check["error"], check["word"]) == (
            rows[0]["objective"],
            rows[0]["error"],
            rows[0]["word"],
        ), task
    for variant in {"few": ("challenge",), "large": ("hopeless",)}.get(family, VARIANTS):
        if variant == "all-off":
            deep = trace.changed & {"told-apart", "lenient", "hopeless"}
            any_change = trace.changed & set(OFF)
            less = trace.after + trace.seconds["told-apart"] + trace.seconds["hopeless"]
        else:
            deep = trace.changed & {variant} & {"told-apart", "lenient", "hopeless"}
            any_change = trace.changed & {variant}
            less = trace.seconds[variant] if variant in OFF else 0.0
        if not any_change:
            rows.append(row(variant, "same", whole - less, base))
        elif deep or trace.state is None:
            rows.append(again(variant))
        else:
            rows.append(replayed(variant))
    return rows


# ---- what is solved ---------------------------------------------------------------------------------------------------
def synthetic_tasks(seeds, sizes, cases=("exact", "noisy", "samples")):
    for seed, n, (case, noise), kind, d in itertools.product(
        seeds,
        sizes,
        [("exact", 0.0), ("noisy", 0.05), ("noisy", 0.1), ("noisy", 0.2), ("samples", 0.0)],
        KINDS,
        (2, 3, 10, 30, 100),
    ):
        if n == 1000 and (
            (case == "samples" and kind in ("gaussian", "uniform")) or case == "exact" or noise == 0.05 or d in (2, 10)
        ):
            continue  # no one right map, and the dearest of all; or easy; a few are enough
        yield ("synthetic", case, kind, d, n, noise, seed, "auto")


def named_tasks(seeds):
    cases = [("exact", 0.0), ("noisy", 0.1), ("noisy", 0.2), ("samples", 0.0), ("unrelated", 0.0)]
    for seed, n, (case, noise), kind, d, start in itertools.product(
        seeds, (30, 50, 200), cases, KINDS, (2, 3, 10, 30), ("random", "signature", "axes", "auto")
    ):
        if start == "auto" and case != "unrelated":
            continue
        yield ("named", case, kind, d, n, noise, seed, start)


def other_tasks():
    for seed, kind, noise in itertools.product(
        range(2), ("grid", "box", "star", "mirrored-3", "mirrored-10"), (0.0, 0.02)
    ):
        yield ("shape", "exact" if noise == 0 else "noisy", kind, "", "", noise, seed, "auto")
    for seed, kind, d, n, (case, noise) in itertools.product(
        range(2), KINDS, (2, 3, 10), (50, 200), (("exact", 0.0), ("noisy", 0.1), ("reflected", 0.0), ("reflected", 0.1))
    ):
        yield ("proper", case, kind, d, n, noise, seed, "auto")


def far_tasks():
    """Two samples of far clusters, whose shares differ: marginals that no map gets right; and copies of them."""
    for seed, n, d, (case, noise) in itertools.product(
        range(2), (50, 200, 600), (3, 10, 30), (("samples", 0.0), ("noisy", 0.1))
    ):
        yield ("far", case, "clustered", d, n, noise, seed, "auto")


def few_tasks():
    """What challenge is for: sheets and clusters of few points from starts that may be wrong. Only challenge is tried."""
    cases = [("exact", 0.0), ("noisy", 0.1), ("samples", 0.0), ("unrelated", 0.0)]
    for seed, n, (case, noise), kind, d, start in itertools.product(
        range(100, 130), (30, 50, 200), cases, ("clustered", "surface"), (2, 3, 5), ("random", "signature", "axes")
    ):
        if start == "random" or seed < 105:
            yield ("few", case, kind, d, n, noise, seed, start)


def large_tasks():
    for case, noise, kind, d in (
        ("samples", 0.0, "clustered", 10),
        ("unrelated", 0.0, "surface", 3),
        ("noisy", 0.2, "clustered", 10),
    ):
        yield ("large", case, kind, d, 3100, noise, 2, "auto")


def all_tasks():
    yield from synthetic_tasks((0, 1), (50, 200))
    yield from other_tasks()
    yield from far_tasks()
    yield from synthetic_tasks((0,), (1000,))
    yield from named_tasks((0,))
    few, large = few_tasks(), large_tasks()
    yield next(large)
    yield from itertools.islice(few, 756)
    yield next(large)
    yield from synthetic_tasks((2, 3), (50, 200))
    yield from few
    yield from named_tasks((1,))
    yield from synthetic_tasks(range(4, 8), (50, 200))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, default=25)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--summarise", action="store_true")
    args = parser.parse_args()
    path = HERE / "ablation_passes.csv"
    if not args.summarise:
        end = time.time() + 60 * args.minutes
        done = set()
        if path.exists():
            with path.open() as file:
                done = {tuple(r[k] for k in FIELDS[:8]) for r in csv.DictReader(file)}
        coming = (task for task in all_tasks() if tuple(str(part) for part in task) not in done)
        with path.open("a", newline="") as file, ProcessPoolExecutor(args.jobs) as pool:
            writer = csv.DictWriter(file, FIELDS)
            if not done:
                writer.writeheader()
            waiting, count, begun = {}, 0, time.time()
            while True:
                while time.time() < end and len(waiting) < 2 * args.jobs and (task := next(coming, None)) is not None:
                    waiting[pool.submit(run, task)] = task
                if not waiting:
                    break
                for future in wait(waiting, return_when=FIRST_COMPLETED).done:
                    task = waiting.pop(future)
                    try:
                        writer.writerows(future.result())
                    except Exception as error:
                        print("FAILED", task, repr(error), flush=True)
                    file.flush()
                    count += 1
                    if count % 100 == 0:
                        print(count, task, round(time.time() - begun), flush=True)
    import summarise

    summarise.main()


if __name__ == "__main__":
    main()
