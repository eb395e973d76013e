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
third = np.array([[-0.5, np.sqrt(0.75)], [-np.sqrt(0.75), -0.5]])  # a turn by 120 degrees

angle = rng.uniform(-np.pi / 3, np.pi / 3, 100)
arm = np.column_stack([np.cos(angle), np.sin(angle)]) * (1 + 0.5 * np.cos(3 * angle))[:, None]
equal = np.vstack([arm, arm @ third, arm @ third @ third])
longer = equal * np.where(np.arange(300) < 100, 1.4, 1.0)[:, None]

order, noise = rng.permutation(300), 0.01 * rng.normal(size=(300, 2))
clouds = {
    "three equal arms": (equal, equal[order] @ turn + noise),
    "one arm longer": (longer, longer[order] @ turn + noise),
    "unrelated clouds": (longer, rng.normal(size=(300, 2))),
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
