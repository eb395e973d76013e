"""Two clouds as samples of surfaces, and how well a rigid motion lays one on the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...geometry.surfaces import (
    SURFACE_ROUNDS,
    SurfaceSample,
    find_unseen,
    measure_gaps,
    measure_misfit,
    sample_surfaces,
    slide_on_surfaces,
)
from ..tuning import PROBES, REACH, SAME_ANSWER, SURE_TWINS

Floats = np.ndarray[Any, Any]


@dataclass(frozen=True, eq=False)
class Clouds:
    """Samples of two surfaces, the distance between neighbours, and the rows that are looked at first."""

    x: SurfaceSample
    y: SurfaceSample
    spacing: float
    probes: tuple[Floats, Floats]
    scale: bool = False  # whether motions change the size of x

    @classmethod
    def of(cls, x: Floats, y: Floats, *, scale: bool = False) -> Clouds:
        """Measure clouds (n, d) and (m, d)."""
        return cls.from_samples(*sample_surfaces(x, y), scale=scale)

    @classmethod
    def from_samples(cls, left: SurfaceSample, right: SurfaceSample, *, scale: bool = False) -> Clouds:
        """Measure two samples."""
        sizes = [float(np.median(np.trace(one.scatter, axis1=1, axis2=2))) ** 0.5 for one in (left, right)]
        probes = tuple(np.unique(np.linspace(0, len(one) - 1, 2 * PROBES).astype(int)) for one in (left, right))
        spacing = max(sizes) / 2  # a neighbourhood is about two spacings wide
        return cls(left, right, spacing, (probes[0], probes[1]), scale)

    @property
    def reach(self) -> float:
        """The distance within which pairs are sought."""
        return REACH * self.spacing

    def measure(self, w: Floats, *, some: bool = False) -> Floats:
        """Return the misfit of all points, or of the probes alone."""
        return measure_misfit(self.x, self.y, w, self.probes if some else None)

    def look_at(self, w: Floats) -> Fit:
        """Measure a motion on all points."""
        misfit = self.measure(w)
        return Fit(w, misfit, ~find_unseen(self.x, self.y, w, misfit))

    def shares_points(self, w: Floats) -> bool:
        """Return whether most points that a motion lays on the other surface coincide with points of it."""
        gaps = np.concatenate(measure_gaps(self.x, self.y, w))
        sizes = np.concatenate([np.trace(one.scatter, axis1=1, axis2=2) for one in (self.x, self.y)]) ** 0.5
        coincide, matched = gaps < SAME_ANSWER * sizes / 2, self.measure(w) < 0.5
        return bool(coincide.sum() > SURE_TWINS * max(matched.sum(), SAME_ANSWER * len(gaps)))

    def fit_on(self, other: Clouds, w: Floats) -> Floats:
        """Return the motion fitted to other samples of these clouds, with the reach of these."""
        return other.slide(w, cut=self.reach)

    def slide(
        self, w: Floats, *, cut: float | None = None, rounds: int = SURFACE_ROUNDS, held: tuple[Floats, Floats] | None = None,
    ) -> Floats:  # fmt: skip
        """Return the motion w (d + 1, d) fitted to these samples."""
        cut = self.reach if cut is None else cut
        return slide_on_surfaces(self.x, self.y, w, cut, rounds=rounds, held=held, scale=self.scale)

    def differ(self, w: Floats, other: Floats) -> bool:
        """Return whether two motions send points elsewhere: by half the spacing, in the mean square."""
        apart = self.x.points @ (w[:-1] - other[:-1]) + w[-1] - other[-1]
        return bool(np.mean(np.sum(apart**2, axis=1)) > self.spacing**2 / 4)


@dataclass(frozen=True, eq=False)
class Fit:
    """A motion (d + 1, d), the misfit of all points, and which points lie where the other cloud was sampled."""

    map: Floats
    misfit: Floats
    seen: Floats
