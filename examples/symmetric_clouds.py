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
angle = rng.uniform(0, 2 * np.pi, 240)
arms = np.column_stack([np.cos(angle), np.sin(angle)]) * (1 + 0.5 * np.cos(3 * angle))[:, None]
lopsided = arms + 0.4 * (arms[:, :1] > 0.9) * arms  # one arm longer: no symmetry is left
turn = np.array([[0.6, 0.8], [-0.8, 0.6]])

clouds = {
    "three equal arms": (arms, arms @ turn),
    "one arm longer": (lopsided, lopsided[rng.permutation(240)] @ turn),
    "unrelated clouds": (lopsided, rng.normal(size=(240, 2))),
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
