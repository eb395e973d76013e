"""Whether an alignment worked, and how finely: the label-free answer, with the evidence behind it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from ..checks import check_choice

WORDS = ("aligned", "coarse", "doubtful", "failed")


@dataclass(frozen=True)
class Evidence:
    """The evidence for the verdict.

    It has two sources: points held out of the fit, and a comparison of the map with reflections of itself, by the
    neighbourhoods of the points. Where points lie on their targets nothing is compared: those numbers are then 0.

    Attributes
    ----------
    split : how often a map fitted without a point sends it to the same target as the full map.
    twins : how much nearer held-out points lie to their targets than neighbours of one cloud lie to each other; negative
        where they lie farther off.
    points : number of source points used.
    rivals : number of equally good maps that send points to other targets: a symmetry of the clouds.
    better : number of answers of the default starts that score clearly higher; looked for only if points are few and the
        caller chose the starts.
    nearer : by how much nearer targets lie to an image than under the reflection of the map that scores highest, in standard errors.
    drift : correlation of where the neighbours of points and of their targets lie, minus its mean over reflections of the map.
    shape : the same of how they spread, in standard errors over the points.
    crowding : the same of how near they are, at equal distance from the centre, in standard errors.
    density : that correlation itself, of how near neighbours are at points and at their targets.
    dimensions : effective number of dimensions of the flatter cloud.
    """

    split: float
    twins: float
    points: int
    rivals: int = 0
    better: int = 0
    nearer: float = 0.0
    drift: float = 0.0
    shape: float = 0.0
    crowding: float = 0.0
    density: float = 0.0
    dimensions: float = 0.0


@dataclass(frozen=True)
class Resolution:
    """How finely a map is right: the share of points nearer to an image than its true counterpart (FOSCTTM), estimated.

    ``low`` and ``high`` bound it in four of five problems. 0: every point is at its counterpart; 0.5: chance.
    """

    estimate: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.estimate:.2g} ({self.low:.2g} to {self.high:.2g})"


UNKNOWN = Resolution(0.5, 0.0, 1.0)
SOUND = ("aligned", "coarse")  # the words for a map that is right, the finer one first


@dataclass(frozen=True)
class Verdict:
    """The verdict on an alignment.

    Attributes
    ----------
    word : ``aligned`` (right point for point), ``coarse`` (right to within neighbourhoods or groups), ``doubtful`` or ``failed``.
    probability : that the map is right, at least coarsely.
    evidence : what was measured.
    reasons : the evidence in sentences, and what to try.
    symmetric : whether several maps fit equally well.
    resolution : how finely the map is right.
    """

    word: str
    probability: float
    evidence: Evidence
    reasons: tuple[str, ...]
    symmetric: bool = False
    resolution: Resolution = UNKNOWN

    def __str__(self) -> str:
        return f"{self.word} (probability {self.probability:.2f}): " + "; ".join(self.reasons)

    def __format__(self, spec: str) -> str:
        return format(str(self), spec)

    def __bool__(self) -> bool:
        return self.word == "aligned"

    def meets(self, word: str) -> bool:
        """Return whether the verdict is ``word`` ("aligned" or "coarse") or a finer one."""
        check_choice(word, "word", SOUND)
        return self.word in SOUND[: SOUND.index(word) + 1]

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Verdict:
        """Build a verdict from the result of ``as_dict``, also of earlier versions, which know no resolution."""
        known = {one.name for one in fields(Evidence)}
        evidence = Evidence(**{name: value for name, value in values["evidence"].items() if name in known})
        resolution = Resolution(**values["resolution"]) if "resolution" in values else UNKNOWN
        return cls(**{**values, "evidence": evidence, "reasons": tuple(values["reasons"]), "resolution": resolution})
