"""Whether an alignment worked: the label-free answer, with the evidence behind it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from ..evidence import Evidence


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
