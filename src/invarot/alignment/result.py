"""The outcome: the map, the plan, and the evidence for both."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from os import PathLike
from typing import Any

import numpy as np

from ..arrays import Array, as_like, keep_dtype, move, namespace, to_numpy
from ..checks import check_choice, check_new_points
from ..errors import InputError
from ..retrieval.nearest import nearest
from ..transport.exact import are_uniform, exact_plan
from ..transport.plan import EntropicPlan
from ..transport.sparse_plan import SparsePlan
from .history import History, StartRecord, Status
from .tuning import FEW_POINTS, QUERIES
from .verdict import Verdict


@dataclass(frozen=True, repr=False, eq=False)
class Alignment:
    """The result of :func:`invarot.align`.

    Attributes
    ----------
    map : (dx, dy) array
        ``x @ map + offset`` lies in y's space.
    offset : (dy,) array
        Zero without ``translate=True``.
    plan : EntropicPlan or SparsePlan
        The coupling, as an operator: ``apply``, ``marginals``, ``cost``, ``matches``, ``dense``.
    objective : float
        The value of the objective that was solved: the score ⟨M, W⟩ (``"simplified"``, larger is better) or the
        transport cost (``"transport"``, smaller is better), in the coordinates of the solve.
    history, status, starts, verdict
        The evidence.
    settings : dict
        The options of the call.
    notes : tuple of str
        Options that had no effect, and why.
    matched_x, matched_y : (n,) and (m,) arrays in [0, 1], or None
        How much of each point is matched; None without ``overlap``, when everything is.
    overlap : pair of floats, or None
        Their means: the shares of x and of y that have a counterpart, estimated.
    source, target : (n, dx) and (m, dy) arrays, or None
        The points of the call, for pictures; they are not saved, so None after loading.
    """

    map: Array
    offset: Array
    plan: EntropicPlan | SparsePlan
    objective: float
    history: History
    status: Status
    starts: tuple[StartRecord, ...]
    verdict: Verdict
    settings: dict[str, Any]
    notes: tuple[str, ...] = ()
    matched_x: Array | None = None
    matched_y: Array | None = None
    overlap: tuple[float, float] | None = None
    source: Array | None = field(default=None, repr=False, compare=False)
    target: Array | None = field(default=None, repr=False, compare=False)

    def on_host(self) -> Alignment:
        """Return the same alignment with NumPy arrays."""
        return self.to("numpy")

    def to(self, device: str) -> Alignment:
        """Return the same alignment on another device.

        Parameters
        ----------
        device : str
            ``"numpy"``: NumPy arrays; a device of torch (``"cpu"``, ``"cuda"``, ``"cuda:1"``): tensors there.
        """
        arrays: dict[str, Any] = {
            name: move(value, device)
            for name, value in vars(self).items()
            if name in self._ARRAYS and value is not None
        }
        return replace(self, plan=self.plan.to(device), **arrays)

    _ARRAYS = frozenset(("map", "offset", "matched_x", "matched_y", "source", "target"))

    def transform(self, points: Any) -> Array:
        """Map source points, seen or new, into the target's space.

        The answer has the library, device and floating dtype of the points; gradients flow through it to them.
        """
        found = self._points(points, self.map.shape[0])
        return keep_dtype(found @ as_like(self.map, found) + as_like(self.offset, found), points)

    def inverse_transform(self, points: Any) -> Array:
        """Map target points into the source's space, by the pseudo-inverse of the map; as `transform` otherwise."""
        found = self._points(points, self.map.shape[1])
        return keep_dtype((found - as_like(self.offset, found)) @ as_like(self._inverse, found), points)

    def matches(self, how: str = "auto", *, all: bool = False) -> Array:
        """Return the row of y matched to each row of x; −1 for a point without a counterpart, unless ``all`` is True.

        ``"plan"``: the largest entry of its row of the plan; ``"assignment"``: the cheapest one-to-one matching of the
        mapped points; ``"nearest"``: the nearest target of ``transform(x)`` (after `load`, in the coordinates of the solve).
        ``"auto"`` is the assignment if it exists (as many points on both sides, equal weights) and is cheap (up to 2,000
        points), since it separates points that the plan blurs; else the nearest target where the last epsilon is above the
        squared distance between neighbours, so that the plan blurs them; else the plan.
        """
        check_choice(how, "how", ("auto", "plan", "assignment", "nearest"))
        if self.matched_x is None:
            return self._matches(how)
        if how == "assignment":
            raise InputError(
                'how: expected "plan" or "nearest" with overlap, where points may stay unmatched, got "assignment"; use "plan"'
            )
        found = self._matches("plan" if how == "auto" else how)
        return (
            found if all else namespace(found).where(self.matched_x > 0.5, found, namespace(found).full_like(found, -1))
        )

    def _matches(self, how: str) -> Array:
        plan = self.plan
        cut = isinstance(plan, EntropicPlan) and not plan.columns.whole
        if cut and how in ("assignment", "nearest"):
            raise InputError(f'how: expected "plan" for targets cut over ranks, got "{how}"; gather the parts first')
        if how == "auto":
            small = plan.shape[0] == plan.shape[1] <= QUERIES and not cut
            soft = isinstance(plan, EntropicPlan) and small and are_uniform(plan.a, plan.b)
            how = "assignment" if soft else "nearest" if not cut and self._is_blurred() else "plan"
        if how == "plan":
            return plan.matches()
        if how == "assignment":
            if plan.z.shape[0] != plan.y.shape[0]:
                raise InputError(
                    f'how: expected as many points on both sides for "assignment", got {plan.z.shape[0]} and {plan.y.shape[0]}; '
                    'use "plan"'
                )
            even = namespace(plan.z).ones_like(plan.z[:, 0]) / plan.z.shape[0]
            return exact_plan(plan.z, plan.y, even, even).matches()
        if self.source is None or self.target is None:  # after `load`
            return nearest(plan.z, plan.y)
        return nearest(self.transform(self.source), self.target)

    def _is_blurred(self) -> bool:
        """Return whether the plan cannot tell neighbours apart: epsilon is above the median squared distance of targets to their nearest."""
        plan = self.plan
        if not isinstance(plan, EntropicPlan) or plan.y.shape[0] < 2:
            return False
        rows = as_like(
            np.arange(0, plan.y.shape[0], max(1, plan.y.shape[0] // FEW_POINTS)), plan.y, dtype=namespace(plan.y).int64
        )
        apart = plan.y[rows] - plan.y[nearest(plan.y[rows], plan.y, rows)]
        return plan.epsilon > float(np.median(to_numpy(namespace(plan.y).sum(apart**2, axis=1))))

    def save(self, path: str | PathLike[str]) -> None:
        """Write the alignment to a folder; :func:`invarot.load` reads it back."""
        from ..storage import save

        save(self, path)

    def plot(self, *, axes: int | None = None, points: int = 2000, lines: int = 150) -> Any:
        """Draw both clouds before and after, with matches as lines and points without a counterpart hollow.

        Parameters
        ----------
        axes : {2, 3}, optional
            Number of axes of a panel: the coordinates themselves where there are no more, else principal axes. By default 3
            for clouds in three dimensions, else 2.
        points : int
            At most so many points of each cloud are drawn.
        lines : int
            At most so many matches are drawn.

        Returns
        -------
        matplotlib.figure.Figure
        """
        from ..report.pictures import draw_alignment

        return draw_alignment(self, axes=axes, points=points, lines=lines)

    def report(self, path: str | PathLike[str], *, names: Any = None, overwrite: bool = True) -> None:
        """Write one self-contained HTML page: the verdict, what it rests on, and both clouds to search and click.

        Parameters
        ----------
        path : path
            The HTML file, or "-" for standard output.
        names : pair of sequences of str, optional
            A name for every row of x and for every row of y; row numbers by default.
        overwrite : bool
            Whether an existing file may be replaced.
        """
        from ..report.alignment import write_alignment_page

        write_alignment_page(self, path, names=names, overwrite=overwrite)

    def _repr_html_(self) -> str:
        from ..report.card import render_card

        return render_card(self)

    @cached_property
    def _inverse(self) -> Array:
        return namespace(self.map).linalg.pinv(self.map)

    def _points(self, points: Any, d: int) -> Array:
        return check_new_points(points, d, self.map, "the alignment was solved with")

    def __str__(self) -> str:
        dx, dy = self.map.shape
        n, m = self.plan.shape
        last = self.history[-1]
        lines = [
            f"Alignment of {n} points in {dx} dimensions with {m} points in {dy}",
            f"  verdict    {self.verdict}",
            f"  objective  {self.objective:.6g} ({self.settings['objective']}, p = {self.settings['p']:g})",
            f"  steps      {len(self.history)}, epsilon down to {last.epsilon:.3g}, "
            f"marginal error {last.marginal_error:.1e} ({last.mode})",
            f"  starts     {self._describe_starts()}",
            *self._overlap_lines(),
            f"  status     {self.status.value}",
            *(f"  note       {note}" for note in self.notes),
        ]
        return "\n".join(lines)

    __repr__ = __str__

    def _describe_starts(self) -> str:
        tried = f"{len(self.starts)} tried"
        if self.overlap is not None:  # objectives of plans that match other shares of the mass cannot be compared
            return tried
        best = max((one for one in self.starts if one.finished), key=lambda one: one.objective * self._sign)
        return f"{tried}, best by objective: {best.name}"

    def _overlap_lines(self) -> list[str]:
        if self.overlap is None:
            return []
        return [f"  overlap    {self.overlap[0]:.0%} of x and {self.overlap[1]:.0%} of y have a counterpart"]

    @property
    def _sign(self) -> int:
        return 1 if self.settings["objective"] == "simplified" else -1

    def spectrum(self) -> Array:
        """Return the singular values of the map, largest first."""
        return to_numpy(namespace(self.map).linalg.svdvals(self.map))
