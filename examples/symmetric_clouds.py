"""
Symmetric clouds and the verdict
================================

No label says whether an alignment is right; the verdict does. It holds points out of the fit, compares with a null, and looks for
other maps that fit as well.
"""

import numpy as np
from matplotlib import pyplot as plt

import invarot

rng = np.random.default_rng(0)
turn = np.array([[0.6, 0.8], [-0.8, 0.6]])


def draw(longer):
    """A new sample of a figure with three arms, one of them longer by a share."""
    angle = rng.uniform(0, 2 * np.pi, 300)
    points = np.column_stack([np.cos(angle), np.sin(angle)]) * (1 + 0.5 * np.cos(3 * angle))[:, None]
    return points * (1 + longer * (points[:, :1] > 0.9)) + 0.02 * rng.normal(size=(300, 2))


clouds = {
    "three equal arms": (draw(0.0), draw(0.0) @ turn),
    "one arm longer": (draw(0.5), draw(0.5) @ turn),
    "unrelated clouds": (draw(0.5), rng.normal(size=(300, 2))),
}
figure, panels = plt.subplots(1, 3, figsize=(10, 3.6), layout="constrained")
for panel, (name, (x, y)) in zip(panels, clouds.items(), strict=True):
    result = invarot.align(x, y)
    verdict = result.verdict
    print(f"{name}: {verdict.word} (probability {verdict.probability:.2f}), symmetric: {verdict.symmetric}")
    for reason in verdict.reasons:
        print("  ·", reason)
    panel.scatter(*result.transform(x).T, s=14, color="#d1495b", linewidths=0)
    panel.scatter(*y.T, s=6, color="#1f6f8b", linewidths=0)
    panel.set_title(f"{name}: {verdict.word}", fontsize=10)
    panel.set_aspect("equal")
