"""Whether an alignment worked: the label-free answer, with the evidence behind it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

WORDS = ("aligned", "doubtful", "failed")


@dataclass(frozen=True)
class Evidence:
    """The evidence for the verdict, measured on points held out of the fit and compared with a null treated in the same way.

    Attributes
    ----------
    gain : 1 − distance of held-out points to the nearest target / that of the null; negative if they lie farther.
    split : how often a map fitted without a point sends it to the same target as the full map.
    surplus : ``split`` minus that of the null: in few dimensions any map is stable, in many only a right one.
    twins : how much nearer held-out points lie to their targets than neighbours of one cloud lie to each other; negative
        where they lie farther off.
    smooth : correlation of the residuals of neighbouring points with different matches: 0 for noise, larger for a wrong
        rotation; near 0 if points lie nearer to their targets than to each other.
    points : number of source points used.
    rivals : equally good maps that send points to other targets: a symmetry of the clouds.
    better : answers of the default starts that score clearly higher (searched if points are few and starts were chosen).
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
        """Build a verdict from the result of ``as_dict``."""
        return cls(**{**values, "evidence": Evidence(**values["evidence"]), "reasons": tuple(values["reasons"])})
