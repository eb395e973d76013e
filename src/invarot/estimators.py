"""scikit-learn estimator for :func:`invarot.align`, with the same options."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .alignment.align import align
from .alignment.options import Exact, Rotations, Schatten, Search, Sinkhorn
from .arrays import to_numpy
from .checks import check_rng, check_weights
from .errors import InputError, MissingExtra
from .transport.choice import parse_memory
from .transport.entropic import entropic_plan

try:
    from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
    from sklearn.utils import check_array
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError as error:
    raise MissingExtra("InvariantAligner", "sklearn") from error

Points = np.ndarray[Any, Any]
FLOATS = (np.float64, np.float32)
SCORE_EPSILON = 0.01  # epsilon of the plan used by ``score``, relative to the cost of the independent coupling
SCORE_SWEEPS = 500


class InvariantAligner(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Map a source cloud onto a target cloud with nothing paired.

    ``fit(X, y)`` takes the source cloud X (n, dx) and, as y, the target cloud (m, dy): rows need not correspond, and
    neither the numbers of points nor the dimensions need to be equal.

    Parameters
    ----------
    a, b, p, translate, …
        The options of :func:`invarot.align`, with the same names and defaults; checked by ``fit``.
    random_state : int, numpy.random.Generator, numpy.random.RandomState or None
        ``rng`` of :func:`invarot.align`. None gives a new random seed at every fit.

    Attributes
    ----------
    map_, offset_ : (dx, dy) and (dy,) arrays
        ``X @ map_ + offset_`` lies in the target's space.
    plan_, objective_, history_, status_, verdict_
        As in :class:`invarot.Alignment`; the whole result is ``alignment_``.
    target_ : (m, dy) array
        The target of ``fit``, used by ``score``.
    n_features_in_ : int
    feature_names_in_ : array of str, if X has column names

    Examples
    --------
    >>> import numpy as np, invarot
    >>> x = np.random.default_rng(1).gamma(2.0, size=(100, 2))
    >>> y = x[::-1] @ [[0.0, 1.0], [-1.0, 0.0]]
    >>> aligner = invarot.InvariantAligner().fit(x, y)
    >>> bool(np.allclose(aligner.transform(x), y[::-1], atol=1e-2)), round(aligner.score(x), 2)
    (True, 0.99)
    """

    def __init__(
        self,
        *,
        a: Any = None,
        b: Any = None,
        p: float | Schatten | Rotations = math.inf,
        translate: bool = False,
        scale: bool = False,
        overlap: str | float | tuple[float, float] | None = None,
        seeds: Any = None,
        start: Any = "auto",
        n_starts: int | None = None,
        effort: str | None = None,
        require: str | None = None,
        device: str | None = None,
        random_state: Any = 0,
        on_step: Any = None,
        solver: Sinkhorn | Exact | None = None,
        search: Search | None = None,
    ) -> None:
        self.a = a
        self.b = b
        self.p = p
        self.translate = translate
        self.scale = scale
        self.overlap = overlap
        self.seeds = seeds
        self.start = start
        self.n_starts = n_starts
        self.effort = effort
        self.require = require
        self.device = device
        self.random_state = random_state
        self.on_step = on_step
        self.solver = solver
        self.search = search

    def fit(self, X: Any, y: Any = None) -> InvariantAligner:
        """Align the source X (n, dx) with the target cloud y (m, dy)."""
        if y is None:
            raise InputError(
                "y: InvariantAligner requires y to be passed, but the target y is None; pass the target cloud"
            )
        source = validate_data(self, X, dtype=FLOATS, ensure_min_samples=2)
        target = check_array(y, dtype=FLOATS, ensure_min_samples=2, input_name="y")
        options = self.get_params(deep=False)
        rng = _as_generator(options.pop("random_state"))
        found = align(source, target, rng=rng, **options)
        self.alignment_ = found
        self.map_, self.offset_, self.plan_ = found.map, found.offset, found.plan
        self.objective_, self.history_ = found.objective, found.history
        self.status_, self.verdict_ = found.status, found.verdict
        self.n_iter_ = len(found.history)
        self.target_ = target
        return self

    def transform(self, X: Any) -> Points:
        """Map source points, seen or new, into the target's space."""
        check_is_fitted(self)
        source = validate_data(self, X, dtype=FLOATS, reset=False)
        return np.asarray(self.alignment_.transform(source))

    def inverse_transform(self, X: Any) -> Points:
        """Map points of the target's space into the source's, by the pseudo-inverse of the map."""
        check_is_fitted(self)
        points = check_array(X, dtype=FLOATS, input_name="X")
        return np.asarray(self.alignment_.inverse_transform(points))

    def score(self, X: Any, y: Any = None) -> float:
        """Return the share of the transport cost that the map saves: 1 − cost/(cost of the independent coupling), at most 1.

        The cost is that of the entropic plan between the transformed X and y (the fitted target if y is None), with uniform
        weights, except ``b`` for the fitted target. 1: the clouds coincide. 0: the map is no better than chance. Entropy
        keeps the score of a perfect map slightly below 1.
        """
        z = self.transform(X)
        target = self.target_ if y is None else check_array(y, dtype=FLOATS, input_name="y")
        if target.shape[1] != z.shape[1]:
            raise InputError(f"y: expected {z.shape[1]} columns, as in fit, got {target.shape[1]}")
        b = check_weights(self.b if y is None else None, "b", target)
        memory = None if self.solver is None else parse_memory(self.solver.memory)
        return _compute_score(z, target, to_numpy(b), memory)

    @property
    def _n_features_out(self) -> int:
        return int(self.map_.shape[1])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = True  # y is 2-D: a cloud
        tags.target_tags.single_output = False
        return tags


def _as_generator(random_state: Any) -> np.random.Generator:
    """Convert any scikit-learn random state to a Generator."""
    if random_state is None:
        return np.random.default_rng()
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31 - 1))
    return check_rng(random_state, "random_state")


def _compute_score(z: Points, y: Points, b: Points, memory: int | None) -> float:
    """Return 1 − Σ Γij ‖zᵢ − yⱼ‖² / Σ aᵢ bⱼ ‖zᵢ − yⱼ‖², Γ the entropic plan."""
    middle = b @ y
    z, y = np.asarray(z - middle, dtype=np.float64), np.asarray(y - middle, dtype=np.float64)
    a, b = np.full(len(z), 1 / len(z)), np.asarray(b, dtype=np.float64)
    apart = float((z**2).sum(axis=1).mean() + b @ (y**2).sum(axis=1))  # y is centred, so the inner products vanish
    if apart == 0:
        return 1.0
    plan = entropic_plan(z, y, a, b, epsilon=SCORE_EPSILON * apart, tol=1e-4, max_iter=SCORE_SWEEPS, memory=memory)
    return 1 - plan.cost() / apart
