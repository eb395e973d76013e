"""The paper's method under the names of its table: l_2-, l_∞- and general l_p-InvarOT."""

from __future__ import annotations

import math
from typing import Any

from ..alignment.align import align
from ..alignment.result import Alignment


def lp_invarot(x: Any, y: Any, *, p: float, **options: Any) -> Alignment:
    """Align invariantly to the Schatten ball of exponent ``p``; ``options`` as in :func:`invarot.align`.

    Departures (undone by ``**invarot.paper()``): many kinds of start are tried instead of one random matrix, and epsilon
    is relative to the data, starts lower and decreases faster.
    """
    return align(x, y, p=p, **options)


def l2_invarot(x: Any, y: Any, **options: Any) -> Alignment:
    """Align with p = 2, which is Gromov–Wasserstein with inner products."""
    return lp_invarot(x, y, p=2.0, **options)


def linf_invarot(x: Any, y: Any, **options: Any) -> Alignment:
    """Align with p = ∞: orthogonal maps."""
    return lp_invarot(x, y, p=math.inf, **options)
