"""The outcome: the map, the plan, and the evidence for both."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from typing import Any

from ..arrays import Array, as_like, namespace, to_numpy
from ..checks import check_choice, check_points
from ..errors import InputError
from ..retrieval.nearest import nearest
from ..transport.exact import are_uniform, exact_plan
from ..transport.plan import EntropicPlan, SparsePlan
from .history import History, StartRecord, Status
from .verdict import Verdict

ONE_TO_ONE = 2000  # points up to which matches are assigned one to one by default


@dataclass(frozen=True, repr=False)
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

    def on_host(self) -> Alignment:
        """Return the same alignment with NumPy arrays."""
        matched_x, matched_y = (None if one is None else to_numpy(one) for one in (self.matched_x, self.matched_y))
        return replace(
            self, map=to_numpy(self.map), offset=to_numpy(self.offset), plan=self.plan.on_host(), matched_x=matched_x,
            matched_y=matched_y,
        )  # fmt: skip

    def transform(self, points: Any) -> Array:
        """Map source points, seen or new, into the target's space."""
        return self._points(points, self.map.shape[0]) @ self.map + self.offset

    def inverse_transform(self, points: Any) -> Array:
        """Map target points into the source's space, by the pseudo-inverse of the map."""
        return (self._points(points, self.map.shape[1]) - self.offset) @ self._inverse

    def matches(self, how: str = "auto", *, all: bool = False) -> Array:
        """Return the row of y matched to each row of x; −1 for a point without a counterpart, or a match for ``all``.

        ``"plan"``: the largest entry of its row of the plan; ``"assignment"``: the cheapest one-to-one matching of the
        mapped points; ``"nearest"``: the nearest target. ``"auto"`` is the assignment if it exists (as many points on both
        sides, equal weights) and is cheap (up to 2,000 points), since it separates points that the plan blurs; else the plan.
        """
        check_choice(how, "how", ("auto", "plan", "assignment", "nearest"))
        if self.matched_x is None:
            return self._matches(how)
        if how == "assignment":
            raise InputError(
                'how: expected "plan" or "nearest" with overlap, where points may stay unmatched, got "assignment"'
            )
        found = self._matches("plan" if how == "auto" else how)
        return (
            found if all else namespace(found).where(self.matched_x > 0.5, found, namespace(found).full_like(found, -1))
        )

    def _matches(self, how: str) -> Array:
        plan = self.plan
        if how == "auto":
            small = plan.z.shape[0] == plan.y.shape[0] <= ONE_TO_ONE
            soft = isinstance(plan, EntropicPlan) and small and are_uniform(plan.a, plan.b)
            how = "assignment" if soft else "plan"
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
        return nearest(plan.z, plan.y)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the alignment to a folder; :func:`invarot.load` reads it back."""
        from ..storage import save

        save(self, path)

    @cached_property
    def _inverse(self) -> Array:
        return namespace(self.map).linalg.pinv(self.map)

    def _points(self, points: Any, d: int) -> Array:
        found = check_points(points, "points", least=1)
        if found.shape[1] != d:
            raise InputError(f"points: expected {d} columns, as the alignment was solved with, got {found.shape[1]}")
        return as_like(found, self.map)

    def __str__(self) -> str:
        dx, dy = self.map.shape
        n, m = self.plan.z.shape[0], self.plan.y.shape[0]
        last = self.history[-1]
        lines = [
            f"Alignment of {n} points in {dx} dimensions with {m} points in {dy}",
            f"  verdict    {self.verdict}",
            f"  objective  {self.objective:.6g} ({self.settings['objective']}, p = {self.settings['p']:g})",
            f"  steps      {len(self.history)}, epsilon down to {last.epsilon:.3g}, "
            f"marginal error {last.marginal_error:.1e} ({last.mode})",
            f"  starts     {len(self.starts)} tried, best by objective: "
            + max((one for one in self.starts if one.finished), key=lambda one: one.objective * self._sign).name,
            *self._overlap_lines(),
            f"  status     {self.status.value}",
            *(f"  note       {note}" for note in self.notes),
        ]
        return "\n".join(lines)

    __repr__ = __str__

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
