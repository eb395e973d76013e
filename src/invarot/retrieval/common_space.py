"""The common space of matched rows: whitened, rotated, weighted by correlation."""

from __future__ import annotations

from dataclasses import dataclass

from ..arrays import Array, namespace, svd, transpose


@dataclass(frozen=True)
class CommonSpace:
    """Result of :func:`common_space`."""

    x_map: Array
    y_map: Array
    correlations: Array


def common_space(
    x: Array, y: Array, weights: Array | None = None, *, power: float = 1.0, dewhiten: float = 0.5, ridge: float = 2.0
) -> CommonSpace:
    """Fit maps that bring matched rows together: whiten, rotate, weight by correlation, undo part of the whitening.

    With C = xᵀ diag(w) x + λI and UσVᵀ the SVD of Cx^-½ (xᵀ diag(w) y) Cy^-½, the map of x is
    Cx^-½ U σ^power (Uᵀ Cx^(dewhiten/2) U), and of y likewise.

    Parameters
    ----------
    x, y : array (p, dx), (p, dy)
        Row i of x is paired with row i of y.
    weights : array (p,) or None
        Weight of each pair.
    power : float
        0 weights all directions equally; 1 weights each by its correlation, on both sides.
    dewhiten : float
        1 undoes the whitening of each side, 0 leaves it white.
    ridge : float
        λ in units of the sampling noise: mean variance × d / (effective number of pairs).
    """
    xp = namespace(x, y)
    wide = xp.float64
    w = xp.ones_like(x[:, 0]) if weights is None else weights
    w = w / xp.sum(w)
    effective = 1 / float(xp.sum(w * w))

    def side(z: Array) -> tuple[Array, Array]:
        second = xp.astype(transpose(z * w[:, None]) @ z, wide)
        power_, vectors = xp.linalg.eigh((second + transpose(second)) / 2)
        mean = float(xp.mean(power_)) or 1.0
        noise = mean * max(ridge * z.shape[1] / effective, 1e-10)
        return xp.where(power_ > 0, power_, xp.zeros_like(power_)) + noise, vectors

    (px, bx), (py, by) = side(x), side(y)
    cross = xp.astype(transpose(x * w[:, None]) @ y, wide)
    white = (bx / xp.sqrt(px)) @ (transpose(bx) @ cross @ by) @ transpose(by / xp.sqrt(py))
    u, s, vt = svd(white)
    s = xp.where(s < 1, s, xp.ones_like(s))

    def finish(basis: Array, spread: Array, turn: Array) -> Array:
        inner = transpose(basis) @ turn
        back = transpose(inner) @ (inner * spread[:, None] ** (dewhiten / 2))
        return ((basis / xp.sqrt(spread)) @ inner * s**power) @ back

    return CommonSpace(
        xp.astype(finish(bx, px, u), x.dtype), xp.astype(finish(by, py, transpose(vt)), y.dtype), xp.astype(s, x.dtype)
    )
