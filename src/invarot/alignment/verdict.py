"""Whether an alignment worked: the label-free answer, with the evidence behind it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Evidence:
    """What the verdict rests on, measured on points held out of the fit and beside a null treated alike.

    Attributes
    ----------
    gain : the part of the null's distance to the nearest target that held-out points save; negative where they lie farther.
    split : how often a map fitted without a point sends it to the same target as the whole map.
    surplus : ``split`` less that of the null: in few dimensions any map is stable, in many only a right one.
    twins : how much nearer held-out points lie to their targets than neighbours of one cloud lie to each other; negative
        where they lie farther off.
    smooth : how alike what is left over is at neighbouring points that have matches of their own: noise is not, a wrong
        turn is; next to nothing where points lie nearer to their targets than to each other.
    points : source points that all this was gathered on.
    rivals : other maps, as good, that send points elsewhere: a symmetry of the clouds.
    better : answers of plain starts that score clearly higher (looked for where points are few and starts were chosen).
    """

    gain: float
    split: float
    surplus: float
    twins: float
    smooth: float
    points: int
    rivals: int = 0
    better: int = 0


@dataclass(frozen=True)
class Verdict:
    """``word`` is ``aligned``, ``doubtful`` or ``failed``; ``probability`` that the alignment is right."""

    word: str
    probability: float
    evidence: Evidence
    reasons: tuple[str, ...]
    symmetric: bool = False

    def __str__(self) -> str:
        return f"{self.word} (probability {self.probability:.2f}): " + "; ".join(self.reasons)

    def __bool__(self) -> bool:
        return self.word == "aligned"

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Verdict:
        """What ``as_dict`` gave."""
        return cls(**{**values, "evidence": Evidence(**values["evidence"]), "reasons": tuple(values["reasons"])})
