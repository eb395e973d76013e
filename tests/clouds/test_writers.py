"""What is written is what was given, whole or not at all."""

from __future__ import annotations

import numpy as np
import pytest

from invarot import InputError
from invarot.clouds import Cloud, read_cloud, write_cloud
from invarot.clouds import writers as module


@pytest.fixture
def cloud():
    rng = np.random.default_rng(0)
    normals = rng.standard_normal((50, 3))
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    columns = {
        "red": rng.integers(0, 256, 50, dtype=np.uint8),
        "intensity": rng.random(50, dtype=np.float32),
        "number": np.arange(50, dtype=np.int64),
    }
    return Cloud(rng.standard_normal((50, 3)) * 1e6 + 0.1, normals, columns)


@pytest.mark.parametrize("name", ["a.ply", "a.csv", "a.xyz", "a.txt", "a.obj", "a.npy", "a.ply.gz", "a.csv.gz"])
def test_points_come_back_exactly(tmp_path, cloud, name):
    assert write_cloud(tmp_path / name, cloud) == tmp_path / name
    found = read_cloud(tmp_path / name)
    np.testing.assert_array_equal(found.points, cloud.points)
    if ".ply" in name or ".csv" in name:
        np.testing.assert_array_equal(found.normals, cloud.normals)
        assert list(found.columns) == list(cloud.columns)
        for column, values in cloud.columns.items():
            np.testing.assert_array_equal(found.columns[column], values)
    elif ".obj" in name:
        np.testing.assert_array_equal(found.normals, cloud.normals)


def test_types_are_kept_in_ply(tmp_path, cloud):
    write_cloud(tmp_path / "a.ply", cloud)
    found = read_cloud(tmp_path / "a.ply").columns
    assert [found[name].dtype.str[1:] for name in cloud.columns] == ["u1", "f4", "f8"]


def test_an_array_will_do(tmp_path, lib):
    write_cloud(tmp_path / "a.xyz", lib.array([[1.0, 2, 3], [4, 5, 6]]))
    assert (tmp_path / "a.xyz").read_text() == "1.0 2.0 3.0\n4.0 5.0 6.0\n"


def test_the_same_cloud_gives_the_same_file(tmp_path, cloud):
    first, second = (write_cloud(tmp_path / f"{name}.ply.gz", cloud).read_bytes() for name in "ab")
    assert first == second


def test_a_write_that_fails_leaves_the_old_file(tmp_path, cloud, monkeypatch):
    path = write_cloud(tmp_path / "a.ply", cloud)
    before = path.read_bytes()
    monkeypatch.setitem(module._WRITERS, ".ply", lambda cloud: "no bytes")
    with pytest.raises(TypeError):
        write_cloud(path, cloud)
    assert path.read_bytes() == before
    assert [one.name for one in tmp_path.iterdir()] == ["a.ply"]


@pytest.mark.parametrize(
    ("name", "value", "complaint"),
    [
        ("a.las", [[1.0, 2, 3], [1, 2, 3]], r"expected one of \.ply, .* got \.las"),
        ("no/a.ply", [[1.0, 2, 3], [1, 2, 3]], "folder that exists"),
        ("a.ply", [[1.0, 2], [3, 4]], "cloud: expected three columns"),
        ("a.ply", [[1.0, 2, np.nan], [1, 2, 3]], "cloud: expected finite"),
        ("a.ply", "b.las", "got .las"),
    ],
)
def test_bad_input(tmp_path, name, value, complaint):
    with pytest.raises(InputError, match=complaint):
        write_cloud(tmp_path / name, value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ({"points": np.zeros((4, 2))}, r"shape \(n, 3\), got shape \(4, 2\)"),
        ({"points": np.zeros((4, 3)), "normals": np.zeros((3, 3))}, r"normals: expected shape \(4, 3\)"),
        ({"points": np.zeros((4, 3)), "columns": {"red": np.zeros(5)}}, r"red: expected shape \(4,\)"),
    ],
)
def test_a_cloud_checks_itself(fields, complaint):
    with pytest.raises(InputError, match=complaint):
        Cloud(**fields)
