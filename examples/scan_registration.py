"""
Two scans of one thing
======================

Two scans see different parts: a quarter of each has no counterpart. ``register`` estimates the overlap, turns and shifts. But for its
handle the vase is a body of revolution: another turn about its axis lays as much of the scans on each other. There the handle of each
scan would stand where the other scan has seen nothing but the body, and that tells the two apart.
"""

import numpy as np
from matplotlib import pyplot as plt

from invarot.clouds import register

rng = np.random.default_rng(2)


def make_vase(count):
    """Points on a vase with a handle."""
    angle, height = rng.uniform(0, 2 * np.pi, count), rng.uniform(-2, 2, count)
    width = 1 + 0.4 * np.sin(1.7 * height) + 0.15 * (height > 1)
    body = np.column_stack([width * np.cos(angle), width * np.sin(angle), height])
    turn, tube = rng.uniform(-1.6, 1.6, count // 6), rng.uniform(0, 2 * np.pi, count // 6)
    ring = 0.8 + 0.15 * np.cos(tube)
    handle = np.column_stack([1.1 + ring * np.cos(turn), 0.15 * np.sin(tube), ring * np.sin(turn) + 0.4])
    return np.vstack([body, handle])


# Each scan misses what lies on its far side, and no point is in both.
first, second = make_vase(2000), make_vase(2000)
first, second = first[first @ [0.5, 0.9, 0.1] > -0.6], second[second @ [0.6, -0.8, -0.2] > -0.8]
turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
turn *= np.sign(np.linalg.det(turn))
moved = first @ turn + [4.0, -2.0, 1.0]

found = register(moved, second)
off = np.linalg.norm(found.moved.points - first, axis=1)
print(
    f"verdict {found.verdict.word}, overlap {found.overlap[0]:.0%} of the source, {found.overlap[1]:.0%} of the target"
)
print(f"distance from where points belong: {off.mean():.3f} on average, the vase being 4 tall")
print(np.round(found.matrix, 3))

figure = plt.figure(figsize=(9, 4.5), layout="constrained")
for number, (title, points) in enumerate((("before", moved), ("after", found.moved.points)), 1):
    panel = figure.add_subplot(1, 2, number, projection="3d")
    panel.scatter(*second.T, s=3, color="#1f6f8b", linewidths=0)
    panel.scatter(*points.T, s=3, color="#d1495b", linewidths=0)
    panel.set_title(title)
    panel.set_aspect("equal")
    panel.view_init(15, -60)
