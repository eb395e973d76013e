"""Models to report on, whose answers are known."""

from __future__ import annotations

from typing import Any

import numpy as np

from invarot.alignment.evidence import Evidence
from invarot.alignment.verdict import Verdict
from invarot.translation import Translation
from invarot.words import Vectors
from invarot.words.preprocessing import Preprocessing

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
    prepare = Preprocessing(("none",))
    source = Vectors(tuple(names), x, "folder, odd/wiki.en.vec.gz", ("line 3: dropped <b>one</b>",) if hostile else ())
    target = Vectors(tuple(name.replace("s", "t") for name in names), x @ turn, "<es>.vec")
    evidence = Evidence(0.41, 0.8, 0.55, 0.9, 1.0, rivals, 1e-3)
    history = [step(i, 0.1 * 0.8**i, 0.2 + 0.05 * i, "solve 50, race") for i in range(4)]
    history += [step(i, 0.1 * 0.7**i, 0.3 + 0.08 * i, "solve 50") for i in range(5)]
    refined = {"stage": "refine", "score": 0.5, "correlation": 0.6}
    history += [{**refined, "pairs": 40 + i, "changed": 1 / (i + 1)} for i in range(3)]
    return Translation(
        source=source,
        target=target,
        prepare_source=prepare.fit(x),
        prepare_target=prepare.fit(target.vectors),
        source_map=turn,
        target_map=np.eye(dims[1], dtype=np.float32),
        verdict=Verdict(word, 0.97, evidence, ("because",)),
        history=history,
        settings={
            "name": "fast",
            "p": float("inf"),
            "steps": ["none"],
            "rng": None,
            "seconds": {"solve 50": 1.5, "refine": 0.5},
        },
    )
