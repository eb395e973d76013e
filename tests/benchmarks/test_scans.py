"""benchmarks/scans.py: its draws, its measures and its table."""

from __future__ import annotations

import csv

import numpy as np
import pytest
from scans import FIELDS, Truth, as_matrix, draw_pair, measure, move, reached, summarise
from scipy.spatial import cKDTree


def test_measures():
    matrix = as_matrix(np.diag([1.0, -1, -1]), np.array([1.0, 2, 3]))
    truth = Truth(matrix, (1.0, 1.0), np.array([1.0, 0, 0]), unit=2.0)
    assert measure(matrix, truth) == {"rotation": 0.0, "offset": 0.0}
    off = matrix.copy()
    off[:3, 3] += [0, 0.6, 0.8]
    assert measure(off, truth) == {"rotation": 0.0, "offset": 0.5}
    assert reached({"pair": "lidar", "rotation": "0.9", "offset": "0.09"})
    assert not reached({"pair": "lidar", "rotation": "0.1", "offset": "0.2"})
    assert not reached({"pair": "cow cut-70", "rotation": 0.1, "offset": 0.09})


@pytest.mark.parametrize("pair", ["lidar", "cars", "cow cut-70"])
def test_a_draw_has_its_truth(data_dir, pair):
    x, y, truth = draw_pair(data_dir, pair, 1, points=2000)
    far = cKDTree(y).query(move(x, truth.matrix))[0]
    assert np.median(far) < {"lidar": 0.3, "cars": 0.5}.get(pair, 1e-9)
    assert np.linalg.det(truth.matrix) == pytest.approx(1, abs=1e-3)
    assert not np.allclose(draw_pair(data_dir, pair, 2, points=2000)[2].matrix, truth.matrix)


def test_the_table(tmp_path):
    rows = [
        ("lidar", 0, "open3d", 0.5, 0.05, "", 2),
        ("lidar", 1, "open3d", 9, 0.05, "", 4),
        ("cow cut-70", 0, "invarot", 1, 0.01, 0.75, 1),
    ]
    with (tmp_path / "s.csv").open("w") as file:
        writer = csv.DictWriter(file, FIELDS)
        writer.writeheader()
        for pair, draw, method, rotation, offset, share, seconds in rows:
            writer.writerow({"pair": pair, "draw": draw, "method": method, "n": 100, "m": 100, "rotation": rotation, "offset": offset,
                             "overlap_x": share, "overlap_y": share, "true_x": 0.7, "true_y": 0.7, "seconds": seconds, "cpu": 2 * seconds})  # fmt: skip
    text = summarise(tmp_path / "s.csv", ["python benchmarks/scans.py"])
    assert "| lidar | 100 | open3d | 2 | 1 | 4.75 | 0.05 | – | 3 | 6 |" in text
    assert "| cut-70 | 100 | invarot | 1 | 1 | 1 | 0.01 | 1 of 1 | 1 | 2 |" in text
    assert "    python benchmarks/scans.py\n" in (tmp_path / "s.md").read_text()
