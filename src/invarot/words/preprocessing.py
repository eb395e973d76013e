"""Preprocessing of vectors: fitted once, stored with the model, applied to new rows in the same way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Array, as_like, is_array, namespace, to_numpy, unit_rows
from ..errors import InputError

STEPS = ("unit", "center", "none")


@dataclass(frozen=True, eq=False)
class Preprocessing:
    """A sequence of steps on the rows of an array: ``unit`` (length one), ``center`` (subtract the mean), ``none``.

    Attributes
    ----------
    steps : names of the steps, in order
    means : one (d,) float64 NumPy vector per ``center`` step, None before `fit`

    Examples
    --------
    >>> x = np.array([[3.0, 4.0], [0.0, 2.0], [0.0, 0.0]])
    >>> fitted = Preprocessing(steps=("unit",)).fit(x)
    >>> fitted.apply(x).tolist()
    [[0.6, 0.8], [0.0, 1.0], [0.0, 0.0]]
    """

    steps: tuple[str, ...] = ("unit", "center", "unit")
    means: tuple[np.ndarray[Any, Any], ...] | None = None

    def __post_init__(self) -> None:
        if isinstance(self.steps, str):
            raise InputError(
                f"steps: expected a sequence of steps, got the string {self.steps!r}; pass ({self.steps!r},)"
            )
        object.__setattr__(self, "steps", tuple(self.steps))
        for step in self.steps:
            if step not in STEPS:
                raise InputError(f"steps: expected {', '.join(STEPS)}, got {step!r}")
        if self.means is not None and len(self.means) != self.steps.count("center"):
            raise InputError(
                f"means: expected one per center step ({self.steps.count('center')}), got {len(self.means)}"
            )

    def fit(self, x: Array) -> Preprocessing:
        """Return the same steps with the means of ``x``, (n, d)."""
        return self.fit_apply(x)[0]

    def fit_apply(self, x: Array) -> tuple[Preprocessing, Array]:
        """Return the fitted preprocessing, and ``x`` after it."""
        _check(x)
        if not x.shape[0]:
            raise InputError("x: expected at least one row to fit on, got none")
        means: list[np.ndarray[Any, Any]] = []
        for step in self.steps:
            if step == "center":
                means.append(to_numpy(namespace(x).mean(x, axis=0, dtype=namespace(x).float64)))
                x = x - as_like(means[-1], x)
            elif step == "unit":
                x = unit_rows(x, safe=True)
        return Preprocessing(self.steps, tuple(means)), x

    def apply(self, x: Array) -> Array:
        """Apply the steps to ``x`` (n, d) with the fitted means, in the library, device and dtype of ``x``."""
        if self.means is None:
            raise InputError("preprocessing: expected it to be fitted, got means=None; call fit on the vectors first")
        _check(x)
        if self.means and self.means[0].shape != (x.shape[1],):
            raise InputError(
                f"x: expected (n, {len(self.means[0])}) as in fit, got {tuple(x.shape)}; pass vectors of the same model"
            )
        means = iter(self.means)
        for step in self.steps:
            if step == "center":
                x = x - as_like(next(means), x)
            elif step == "unit":
                x = unit_rows(x, safe=True)
        return x

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON part of the settings; `arrays` returns the rest."""
        return {"steps": list(self.steps), "fitted": self.means is not None}

    def arrays(self) -> dict[str, np.ndarray[Any, Any]]:
        """Return the means by name, for an array file."""
        return {f"mean_{i}": mean for i, mean in enumerate(self.means or ())}

    @classmethod
    def from_dict(cls, settings: Mapping[str, Any], arrays: Mapping[str, Array]) -> Preprocessing:
        """Build from the results of `to_dict` and `arrays`; other names in ``arrays`` are ignored."""
        try:
            steps, fitted = tuple(settings["steps"]), settings["fitted"]
            means = tuple(to_numpy(arrays[f"mean_{i}"]) for i in range(steps.count("center"))) if fitted else None
        except KeyError as error:
            raise InputError(
                f"settings, arrays: expected the results of to_dict and arrays, got none for {error}; save them again"
            ) from error
        return cls(steps, means)


def _check(x: Array) -> None:
    if not is_array(x) or x.ndim != 2 or not x.shape[1] or not namespace(x).isdtype(x.dtype, "real floating"):
        what = f"shape {tuple(x.shape)} of {x.dtype}" if is_array(x) else type(x).__name__
        raise InputError(f"x: expected a NumPy or torch array (n, d) of real numbers, got {what}; convert it first")
