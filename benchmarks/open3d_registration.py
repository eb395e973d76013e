"""Registration as Open3D's tutorial has it: FPFH features, RANSAC, point-to-plane ICP. Needs ``pip install open3d``.

    python benchmarks/open3d_registration.py --data DATA --pairs lidar cars --draws 5
    python benchmarks/open3d_registration.py --data DATA --pairs lidar --draws 10 --first 1005 --sizes 0.4 0.6 0.8 1.0
    python benchmarks/open3d_registration.py --data DATA --pairs cars --draws 10 --first 1005 --sizes 0.4
    python benchmarks/open3d_registration.py --data DATA --pairs shapes --draws 3

choose the voxel size, the one number that the tutorial leaves open, for each pair of scans and each kind of cut shape, on draws
from 1000 on, which scans.py does not report. All other numbers are the tutorial's: normals within 2 voxels (30 neighbours), features
within 5 (100), RANSAC with mutual matches, 1.5 voxels, edges alike to 0.9, 100,000 iterations at 0.999, ICP of all points within 0.4.
"""

from __future__ import annotations

import argparse
import csv
import itertools
from pathlib import Path
from typing import Any

import numpy as np

# Of the rows of results/scans_open3d_tuning.csv the most successes, then the smallest median error of the rotation.
METRES = {"lidar": 0.8, "cars": 0.4}
SHARES = {
    "cut-90": 0.015, "cut-70": 0.01, "cut-50": 0.01, "cut-30": 0.015, "both-50": 0.01, "resampled-100": 0.03,
    "resampled-70": 0.02, "resampled-50": 0.04, "resampled-30": 0.03, "outliers-20": 0.01, "outliers-50": 0.01,
    "noise-0.3": 0.02, "noise-1": 0.03,
}  # fmt: skip
SHARE = 0.02  # of the diagonal of the source's bounding box, for a kind of shape not in SHARES

TRIED_METRES = (0.3, 0.4, 0.6, 0.8, 1.0, 1.5, 2.0)
TRIED_SHARES = (0.01, 0.015, 0.02, 0.03, 0.04, 0.06)


def choose_voxel(pair: str, x: np.ndarray) -> float:
    """The voxel size for a pair of scans, or for a shape of the size of ``x``."""
    if pair in METRES:
        return METRES[pair]
    return SHARES.get(pair.split()[-1], SHARE) * float(np.linalg.norm(np.ptp(x, axis=0)))


def register(x: np.ndarray, y: np.ndarray, *, voxel: float, seed: int) -> np.ndarray:
    """The 4×4 matrix from x to y."""
    import open3d

    o3d, reg = open3d.geometry, open3d.pipelines.registration
    open3d.utility.random.seed(seed)
    clouds = [o3d.PointCloud(open3d.utility.Vector3dVector(points)) for points in (x, y)]
    coarse = [cloud.voxel_down_sample(voxel) for cloud in clouds]
    for cloud in (*coarse, clouds[1]):
        cloud.estimate_normals(o3d.KDTreeSearchParamHybrid(radius=2 * voxel, max_nn=30))
    around = o3d.KDTreeSearchParamHybrid(radius=5 * voxel, max_nn=100)
    features = [reg.compute_fpfh_feature(cloud, around) for cloud in coarse]
    checks = [reg.CorrespondenceCheckerBasedOnEdgeLength(0.9), reg.CorrespondenceCheckerBasedOnDistance(1.5 * voxel)]
    first = reg.registration_ransac_based_on_feature_matching(
        *coarse, *features, True, 1.5 * voxel, reg.TransformationEstimationPointToPoint(False), 3, checks,
        reg.RANSACConvergenceCriteria(100_000, 0.999),
    )  # fmt: skip
    plane = reg.TransformationEstimationPointToPlane()
    return np.asarray(
        reg.registration_icp(*clouds, 0.4 * voxel, first.transformation, plane).transformation, dtype=float
    )


def main() -> None:
    from partial_pairs import CASES, SHAPES
    from scans import draw_pair, measure, reached

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--pairs", nargs="+", choices=(*METRES, "shapes"), default=[*METRES, "shapes"])
    parser.add_argument("--draws", type=int, default=5, help="of each pair of scans, or of each shape")
    parser.add_argument("--first", type=int, default=1000, help="number of the first draw")
    parser.add_argument("--sizes", type=float, nargs="+", help="voxel sizes: metres, of shapes shares of the extent")
    parser.add_argument("--out", type=Path, default=Path("results/scans_open3d_tuning.csv"))
    args = parser.parse_args()
    groups = {pair: [pair] for pair in args.pairs if pair != "shapes"}
    if "shapes" in args.pairs:
        groups |= {case: [f"{shape} {case}" for shape in SHAPES] for case in CASES}
    fresh = not args.out.exists()
    with args.out.open("a", newline="") as file:
        writer = csv.DictWriter(
            file, ("group", "voxel", "unit", "first", "draws", "reached", "rotation", "offset"), lineterminator="\n"
        )
        if fresh:
            writer.writeheader()
        for group, pairs in groups.items():
            metres = group in METRES
            for size in args.sizes or (TRIED_METRES if metres else TRIED_SHARES):
                rows: list[dict[str, Any]] = []
                for pair, seed in itertools.product(pairs, range(args.first, args.first + args.draws)):
                    x, y, truth = draw_pair(args.data, pair, seed)
                    unit = 1.0 if metres else float(np.linalg.norm(np.ptp(x, axis=0)))
                    rows.append(measure(register(x, y, voxel=size * unit, seed=seed), truth) | {"pair": pair})
                rotation, offset = (float(np.median([row[name] for row in rows])) for name in ("rotation", "offset"))
                found = {"group": group, "voxel": size, "unit": "m" if metres else "extent", "first": args.first,
                         "draws": len(rows),
                         "reached": sum(map(reached, rows)), "rotation": round(rotation, 4),
                         "offset": round(offset, 5)}  # fmt: skip
                writer.writerow(found)
                file.flush()
                print(found, flush=True)


if __name__ == "__main__":
    main()
