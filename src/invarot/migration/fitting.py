"""The map from an old model to a new one: sample both, check, align, and say how good it is."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..alignment.align import align
from ..alignment.result import Alignment
from ..alignment.verdict import Verdict
from ..arrays import to_numpy
from ..checks import check_count, check_rng
from ..errors import InputError
from ..geometry.orthogonal import polar
from ..stores import Info, Store
from .adapter import Adapter
from .finish import fit_retrieval_map, refit_moment
from .pairs import find_pairs, take_pairs
from .recall import Recall, estimate_recall, measure_recall
from .sample import draw

SAMPLE = 8000
MORE = 2  # times as many are used in the last fit, from the map of the solve
HELD = 1000  # vectors of each model that are kept from the solve, to estimate recall with; an eighth of a small store
CHECKED_SHARE = 0.25  # of equal ids, what is kept from the solve to measure recall on
SAME_SPACE = 1.25  # gap to the nearest vector across two samples / inside each: 1 for one model, about 2 for two


@dataclass(frozen=True)
class Migration:
    """The outcome of :func:`fit`: the adapter from the old model to the new one, and the evidence for it.

    Attributes
    ----------
    adapter : Adapter
    rotation : Adapter
        The best orthogonal map for the same plan, which the estimate of recall uses.
    alignment : Alignment
        Of the two samples.
    recall : Recall
    old, new : Info
        Of the two stores.
    seconds : dict
        How long reading and solving took.
    """

    adapter: Adapter
    rotation: Adapter
    alignment: Alignment
    recall: Recall
    old: Info
    new: Info
    seconds: dict[str, float]

    @property
    def verdict(self) -> Verdict:
        return self.alignment.verdict

    def is_good(self, at_least: float | None = None) -> bool:
        """Return whether a store may be written: the verdict is aligned or, if ``at_least`` is given, the measured recall is at least that.

        Where pairs were measured and recall is that of chance, one of both is wrong, and nothing may be written.
        """
        if at_least is None:
            return self.verdict.word == "aligned" and not self.recall.is_chance
        if not self.recall.measured:
            raise InputError(
                "at_least: expected together with check_pairs, got no pairs to measure recall on; pass check_pairs to fit"
            )
        return self.recall.value >= at_least


def fit(
    old: Store,
    new: Store,
    *,
    pairs: Any = None,
    check_pairs: Any = None,
    sample: int = SAMPLE,
    start: Any = "auto",
    effort: str | None = None,
    device: str | None = None,
    rng: int | np.random.Generator = 0,
) -> Migration:
    """Find the map from the old model's vectors to the new model's.

    Parameters
    ----------
    old, new : Store
        The store to migrate, and any vectors of the new model, of other texts or the same.
    pairs : file, "ids" or sequence of (old id, new id), optional
        The same texts in both models; they enter the solve.
    check_pairs : likewise
        Used only to measure recall; left out of the solve. With "ids", a quarter of the common ids.
    sample : int
        Vectors of each model that the search uses, drawn at random; the last fit uses twice as many.
    start, effort, device, rng
        As for :func:`invarot.align`.

    Returns
    -------
    Migration

    Examples
    --------
    >>> import tempfile, numpy as np, invarot
    >>> folder, rng = tempfile.mkdtemp(), np.random.default_rng(0)
    >>> topics, turn = rng.gamma(0.5, size=(50, 8)), np.linalg.qr(rng.normal(size=(8, 8)))[0]
    >>> texts = topics[rng.integers(50, size=1000)] + 0.05 * rng.normal(size=(1000, 8))
    >>> np.save(folder + "/old.npy", texts[:500])
    >>> np.save(folder + "/new.npy", texts[500:] @ turn)
    >>> old, new = (invarot.stores.open(f"{folder}/{name}.npy") for name in ("old", "new"))
    >>> found = invarot.migration.fit(old, new)
    >>> found.verdict.word, bool(np.allclose(found.rotation.map, turn, atol=0.2))
    ('aligned', True)
    """
    check_count(sample, "sample", low=100)
    generator = check_rng(rng)
    check = find_pairs(check_pairs, old, new, "check_pairs", share=CHECKED_SHARE)
    known = {a: b for a, b in find_pairs(pairs, old, new, "pairs").items() if a not in check}
    drawn_old = draw(old, MORE * sample + HELD, generator, keep={*known, *check})
    drawn_new = draw(new, MORE * sample + HELD, generator, keep={*known.values(), *check.values()})
    seeds_x, seeds_y = take_pairs(known, drawn_old, drawn_new, "pairs")
    test_x, test_y = take_pairs(check, drawn_old, drawn_new, "check_pairs")
    (held, left), (held_new, right) = (
        np.split(one.vectors, [0 if len(test_x) else _count_held(one.vectors)]) for one in (drawn_old, drawn_new)
    )
    x, y = (np.concatenate([some, rest[:sample]]) for some, rest in ((seeds_x, left), (seeds_y, right)))
    _check_sample(x, "old", old.address)
    _check_sample(y, "new", new.address)
    _check_different(drawn_old.vectors, drawn_new.vectors)
    rows = np.arange(len(seeds_x))
    begun = time.perf_counter()
    alignment = align(
        x, y, seeds=np.stack([rows, rows], axis=1) if len(rows) else None, start=start, effort=effort, device=device,
        rng=generator,
    )  # fmt: skip
    turn = np.asarray(to_numpy(alignment.map), dtype=np.float32)
    x, y = np.concatenate([seeds_x, left]), np.concatenate([seeds_y, right])
    moment = refit_moment(x, y, turn, alignment.history[-1].epsilon, pairs=len(seeds_x), device=device)
    adapter, rotation = Adapter(fit_retrieval_map(moment, x, y)), Adapter(np.asarray(polar(moment), dtype=np.float32))
    solved = time.perf_counter() - begun
    if len(test_x):
        others = (adapter.apply(left), right) if len(left) and len(right) else None
        recall = measure_recall(adapter.apply(test_x), test_y, others=others, store=drawn_old.info.count)
    else:
        recall = estimate_recall(rotation.map, held, left, held_new, right, store=drawn_old.info.count)
    facts = {
        "source": old.address, "sample": new.address, "verdict": alignment.verdict.word,
        "probability": alignment.verdict.probability, "recall": recall, "pairs": len(seeds_x),
    }  # fmt: skip
    seconds = {"read": drawn_old.seconds + drawn_new.seconds, "read_old": drawn_old.seconds, "solve": solved}
    return Migration(Adapter(adapter.map, facts), rotation, alignment, recall, drawn_old.info, drawn_new.info, seconds)


def _count_held(rows: np.ndarray[Any, Any]) -> int:
    """Return how many rows are kept from the solve: never so many that fewer are left than dimensions."""
    count, dimension = rows.shape
    return max(0, min(HELD, max(1, count // 8), count - dimension))


def _check_sample(points: np.ndarray[Any, Any], name: str, address: str) -> None:
    count, dimension = points.shape
    if count < dimension:
        raise InputError(
            f"{name}: expected at least as many vectors as dimensions, {dimension}, got {count} in {address}; fewer do not "
            "determine a map: embed more texts"
        )


def _check_different(x: np.ndarray[Any, Any], y: np.ndarray[Any, Any]) -> None:
    """Raise if both clouds already lie in one space: the nearest vector is as near across them as inside each."""
    count = min(len(x), len(y), 4000)
    if x.shape[1] != y.shape[1] or count < 100:
        return
    (xq, xd), (yq, yd) = ((one[: count // 2], one[count // 2 : count]) for one in (x, y))
    inside = math.sqrt(_gap(xq, xd) * _gap(yq, yd))
    ratio = math.sqrt(_gap(xq, yd) * _gap(yq, xd)) / inside if inside > 0 else math.inf
    if ratio < SAME_SPACE:
        raise InputError(
            f"new: expected vectors of another model, got vectors of the same space as the old ones (the nearest vector of the "
            f"other side is {ratio:.2f} times as far as the nearest of the same side); the same model on both sides: nothing to do"
        )


def _gap(queries: np.ndarray[Any, Any], documents: np.ndarray[Any, Any]) -> float:
    """Return the mean of 1 − the cosine to the nearest document."""
    return float(np.mean(np.maximum(1 - (queries @ documents.T).max(axis=1), 0)))
