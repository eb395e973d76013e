"""The picture of the README: points of a scanned bunny in two poses, and the colours that the alignment carries over.

    python docs/pictures/bunny.py DATA/shapes/stanford-bunny.obj docs/pictures/bunny.png

The bunny is that of the Stanford 3D Scanning Repository.
"""

from __future__ import annotations

import sys

import numpy as np
from matplotlib import pyplot as plt

import invarot
from invarot.clouds import read_cloud

POINTS = 2500


def main(file: str, output: str) -> None:
    rng = np.random.default_rng(4)
    cloud = read_cloud(file).points[:, [0, 2, 1]] * [1, -1, 1]  # its up is y
    cloud = (cloud - cloud.mean(axis=0)) / cloud.std()
    rows = rng.permutation(len(cloud))
    x, y = cloud[rows[:POINTS]], cloud[rows[POINTS : 2 * POINTS]]  # two samples: no point in common
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    turn *= np.sign(np.linalg.det(turn))
    moved = x @ turn + 3.0
    result = invarot.align(moved, y, p=invarot.Rotations(), translate=True)
    match = result.matches()
    print(result)

    colour = plt.get_cmap("turbo")((y[:, 2] - y[:, 2].min()) / np.ptp(y[:, 2]))
    figure = plt.figure(figsize=(11, 3.4), layout="constrained")
    panels = (
        ("target: coloured by height", y, colour),
        ("source: other points, turned, no labels", moved, "#777777"),
        ("source after align(x, y), coloured by its matches", result.transform(moved), colour[match]),
    )
    for number, (title, points, shade) in enumerate(panels, 1):
        panel = figure.add_subplot(1, 3, number, projection="3d")
        panel.scatter(*points.T, s=5, c=shade, linewidths=0, depthshade=False)
        panel.set_title(title, fontsize=11)
        panel.set_box_aspect(np.ptp(points, axis=0), zoom=1.45)
        panel.view_init(12, -75)
        panel.set_axis_off()
    figure.savefig(output, dpi=110, facecolor="white")


if __name__ == "__main__":
    main(*sys.argv[1:])
