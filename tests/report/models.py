"""Models to report on, whose answers are known."""

from __future__ import annotations

from typing import Any

import numpy as np

from invarot import Evidence, Verdict
from invarot.translation import StepRecord, Translation, recipe
from invarot.words import Vectors

HOSTILE = (
    "<script>alert(1)</script>",
    "</title></style>&amp;\"'`",
    "<img src=x onerror=alert(1)>",
    "\u202eesrever\u2028line\x00nul\ud800half",
    "x" * 300,
    "دیوان‌سالاری",
    "𝔘nicode 語",
)


def step(number: int, epsilon: float, objective: float, stage: str) -> dict[str, Any]:
    change = float("nan") if not number else 0.1 / number
    return {
        "step": number,
        "epsilon": epsilon,
        "objective": objective,
        "map_change": 0.2 / (number + 1),
        "plan_change": change,
        "marginal_error": 1e-3,
        "inner_iterations": 5,
        "stage": stage,
    }


def known_model(
    count: int = 50, *, dims: tuple[int, int] = (6, 9), word: str = "aligned", hostile: bool = False, rivals: int = 0
) -> Translation:
    """Source word s_i is target word t_i, rotated into more dimensions: its translation is known."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((count, dims[0])).astype(np.float32)
    turn = np.linalg.qr(rng.standard_normal((max(dims), max(dims))))[0][: dims[0], : dims[1]].astype(np.float32)
    names = [f"s{i}" for i in range(count)]
    if hostile:
        names[: len(HOSTILE)] = HOSTILE
    source = Vectors(tuple(names), x, "folder, odd/wiki.en.vec.gz", ("line 3: dropped <b>one</b>",) if hostile else ())
    target = Vectors(tuple(name.replace("s", "t") for name in names), x @ turn, "<es>.vec")
    evidence = Evidence(split=0.41, twins=0.8, points=1234, rivals=rivals, density=0.55, drift=0.07)
    history = [step(i, 0.1 * 0.8**i, 0.2 + 0.05 * i, "solve 50, race") for i in range(4)]
    history += [step(i, 0.1 * 0.7**i, 0.3 + 0.08 * i, "solve 50") for i in range(5)]
    refined = {"stage": "refine", "score": 0.5, "correlation": 0.6}
    history += [{**refined, "pairs": 40 + i, "changed": 1 / (i + 1)} for i in range(3)]
    maps = {"source_map": turn, "target_map": np.eye(dims[1], dtype=np.float32)}
    return Translation(
        source=source,
        target=target,
        steps=(
            StepRecord("prepare", True, "none", 0.0, {"prepare": ["none"]}),
            StepRecord("solve", True, "the first 50 words", 1.5, {}, maps),
            StepRecord("refine", True, "3 rounds", 0.5, {}, maps),
            StepRecord("penalties", False, "50 words, fewer than 10,000"),
        ),
        verdict=Verdict(word, 0.97, evidence, ("because",)),
        recipe=recipe("fast"),
        history=history,
        settings={"fitted_words": [count, count], "rng": None},
    )
