"""Registration: the motion is found, in the convention that is promised."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import invarot
from invarot import InputError
from invarot.clouds import Cloud, as_matrix, register, write_cloud
from invarot.clouds.registration import format_matrix, measure_rmse

from .pairs import moved_pair


def test_the_matrix_takes_source_to_target():
    source, target, truth = moved_pair()
    found = register(source, target, overlap=None)
    np.testing.assert_allclose(found.matrix, truth, atol=1e-4)
    homogeneous = np.column_stack([source.points, np.ones(len(source))])
    np.testing.assert_allclose((found.matrix @ homogeneous.T).T[:, :3], found.moved.points, atol=1e-9)
    assert found.overlap == (1.0, 1.0)
    assert found.rmse < 1e-4
    assert found.verdict.word == "aligned"
    assert found.matched_source.tolist() == [1.0] * 120
    np.testing.assert_array_equal(as_matrix(found.alignment), found.matrix)
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.rmse = 0.0
    text = str(found)
    assert text.startswith("Registration of 120 points with 120\n  verdict    aligned")
    assert "q = T p" in text


def test_normals_and_columns_come_along():
    source, target, truth = moved_pair(scale=2.0)
    normals = np.tile([0.0, 0.0, 1.0], (120, 1))
    source = Cloud(source.points, normals, {"red": np.arange(120)})
    moved = register(source, target, overlap=None, scale=True).moved
    np.testing.assert_allclose(moved.normals, normals @ truth[:3, :3].T / 2, atol=1e-3)
    assert moved.columns["red"].tolist() == list(range(120))


def test_scale():
    source, target, truth = moved_pair(scale=2.5)
    np.testing.assert_allclose(register(source, target, overlap=None, scale=True).matrix, truth, atol=5e-3)
    rigid = register(source, target, overlap=None).matrix
    assert np.linalg.det(rigid[:3, :3]) == pytest.approx(1)


def test_mirrors_only_on_request():
    source, target, truth = moved_pair(mirror=True)
    plain = register(source, target, overlap=None)
    assert np.linalg.det(plain.matrix[:3, :3]) == pytest.approx(1)
    found = register(source, target, overlap=None, reflect=True)
    np.testing.assert_allclose(found.matrix, truth, atol=1e-4)
    assert plain.rmse > 100 * found.rmse


def test_files_and_arrays(tmp_path):
    source, target, _ = moved_pair(80)
    files = [write_cloud(tmp_path / f"{name}.ply", cloud) for name, cloud in (("a", source), ("b", target))]
    found = [register(*pair, overlap=None, rng=3).matrix for pair in (files, (source.points, target.points))]
    np.testing.assert_array_equal(*found)


def test_a_matrix_between_dimensions():
    x = np.random.default_rng(0).gamma(2.0, size=(60, 3))
    y = np.column_stack([x[:, [2, 0, 1]], np.zeros(60)])
    found = invarot.align(x, y, translate=True)
    matrix = as_matrix(found)
    assert matrix.shape == (5, 4)
    np.testing.assert_allclose((matrix @ np.column_stack([x, np.ones(60)]).T).T[:, :4], found.transform(x), atol=1e-9)


def test_rmse_is_that_of_the_matched_part():
    target = np.array([[0.0, 0, 0], [10, 0, 0]])
    moved = np.array([[3.0, 0, 0], [10, 4, 0], [99, 0, 0]])
    assert measure_rmse(moved, target, np.array([1.0, 1, 0])) == pytest.approx(np.sqrt((9 + 16) / 2))
    assert measure_rmse(moved, target, np.array([0.25, 0, 0])) == pytest.approx(3)
    assert np.isnan(measure_rmse(moved, target, np.zeros(3)))


def test_the_written_matrix_keeps_all_digits():
    matrix = np.random.default_rng(0).standard_normal((4, 4))
    np.testing.assert_array_equal(np.loadtxt(format_matrix(matrix)), matrix)


@pytest.mark.parametrize(
    ("source", "options", "complaint"),
    [
        (np.zeros((5, 2)), {}, "source: expected three columns"),
        (np.full((5, 3), np.nan), {}, "source: expected finite"),
        ("cloud.las", {}, "got .las"),
        (None, {}, "source: expected an array of points"),
        (np.eye(3), {"reflect": 1}, "reflect: expected True or False"),
        (np.eye(3), {"scale": "no"}, "scale: expected True or False"),
    ],
)
def test_bad_input(source, options, complaint):
    with pytest.raises(InputError, match=complaint):
        register(source, np.eye(3), overlap=None, **options)


def half(keep_x: float, keep_y: float):
    """A pair cut from opposite sides: x keeps ``keep_x`` of it along its longest axis, y ``keep_y`` from the other end."""
    source, target, truth = moved_pair(300)
    back = np.linalg.inv(truth)
    along = source.points[:, 0], (target.points @ back[:3, :3].T + back[:3, 3])[:, 0]
    x = source.points[along[0] <= np.quantile(along[0], keep_x)]
    y = target.points[along[1] >= np.quantile(along[0], 1 - keep_y)]
    return x, y, truth


@pytest.mark.parametrize("overlap", ["auto", (0.75, 0.75)])
def test_clouds_that_overlap_in_part(overlap):
    x, y, truth = half(0.8, 0.8)  # 60 % common: 75 % of either
    found = register(x, y, overlap=overlap)
    np.testing.assert_allclose(found.matrix, truth, atol=0.02)
    np.testing.assert_allclose(found.overlap, (0.75, 0.75), atol=0.1)
    assert found.matched_source.shape == (len(x),)
    assert found.matched_target.shape == (len(y),)
    common = found.matched_source >= 0.5
    assert np.mean(common) == pytest.approx(0.75, abs=0.1)
    assert found.rmse < 0.05


def test_the_default_is_auto():
    x, y, _ = half(1.0, 0.7)
    np.testing.assert_array_equal(register(x, y).matrix, register(x, y, overlap="auto").matrix)
