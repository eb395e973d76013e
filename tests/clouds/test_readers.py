"""Clouds as text and as arrays, and files that hold none."""

from __future__ import annotations

import gzip
import io
import pickle
import time

import numpy as np
import pytest

from invarot import InputError
from invarot.clouds import Cloud, read_cloud, write_cloud

POINTS = [[1.0, 2.0, -3.0], [4.5, 5.0, 6.0]]


def read(tmp_path, name: str, content: str | bytes):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_cloud(path)


@pytest.mark.parametrize("name", ["a.csv", "a.xyz", "a.txt", "a.pts", "A.XYZ"])
@pytest.mark.parametrize(
    "content",
    [
        "1,2,-3\n4.5,5,6\n",
        "1 , 2 , -3\n4.5 , 5 , 6",
        "  1   2 -3\r\n4.5\t5   6\r\n",
        "1\t2\t-3\n4.5\t5\t6\n",
        "1;2;-3\n4.5;5;6\n",
        "1,0;2,0;-3,0\n4,5;5,0;6,0\n",
        "x,y,z\n1,2,-3\n4.5,5,6\n",
        "Z;X;Y\n-3;1;2\n6;4.5;5\n",
        '"x","y","z"\n1,2,-3\n4.5,5,6\n',
        "//X Y Z\n1 2 -3\n4.5 5 6\n",
        "# a scan\n# x y z\n\n1 2 -3  # first\n\n4.5 5 6\n",
        "2\n1 2 -3\n4.5 5 6\n",
        "\ufeffeast,north,up\n1,2,-3\n4.5,5,6\n",
        "1e0 2E0 -3.000\n+4.5 5. 6\n",
        "2\nwater\nO 1 2 -3\nH 4.5 5 6\n",
    ],
)
def test_tables(tmp_path, name, content):
    cloud = read(tmp_path, name, content)
    assert cloud.points.tolist() == POINTS
    assert cloud.normals is None
    assert dict(cloud.columns) == {}


def test_the_other_columns(tmp_path):
    cloud = read(tmp_path, "a.csv", "id,nx,x,y,z,ny,nz,kind,red\n1,0,1,2,-3,0,1,tree,9\n2,1,4.5,5,6,0,0,house,8\n")
    assert cloud.points.tolist() == POINTS
    assert cloud.normals.tolist() == [[0, 0, 1], [1, 0, 0]]
    assert {name: values.tolist() for name, values in cloud.columns.items()} == {"id": [1, 2], "red": [9, 8]}
    cloud = read(tmp_path, "a.xyz", "1 2 -3 7\n4.5 5 6 nan\n")
    np.testing.assert_array_equal(cloud.columns["column4"], [7, np.nan])
    assert list(read(tmp_path, "a.pts", "1\n1 2 3 4 5 6 7\n").columns) == ["intensity", "red", "green", "blue"]


def test_obj(tmp_path):
    text = "# cube\nmtllib a.mtl\no one\nv 1 2 -3\nvt 0 0\nvn 0 0 1\nv  4.5 5 6 # last\nvn 0 1 0\n"
    cloud = read(tmp_path, "a.obj", text)
    assert cloud.points.tolist() == POINTS
    assert cloud.normals.tolist() == [[0, 0, 1], [0, 1, 0]]
    cloud = read(tmp_path, "a.obj", text + "f 1//2 -1//1 1\nl 1 2\n")
    assert cloud.points.tolist() == POINTS
    assert cloud.normals is None  # faces say which normal belongs to which vertex
    assert read(tmp_path, "a.obj", "v 1 2 -3 1.0\r\nv 4.5 5 6 1.0\r\n").points.tolist() == POINTS
    coloured = read(tmp_path, "a.obj", "v 1 2 -3 0.1 0.2 0.3\nv 4.5 5 6 1 1 1\n")
    assert coloured.columns["green"].tolist() == [0.2, 1]
    assert read(tmp_path, "a.obj", "v 1 2 -3\nv 4.5 5 6 1 1 1\n").points.tolist() == POINTS


@pytest.mark.parametrize("dtype", ["float64", "float32", ">f8", "int16"])
def test_npy(tmp_path, dtype):
    array = np.array([[1, 2, -3, 9], [4, 5, 6, 8]], dtype=dtype)
    for version, order in (((1, 0), "C"), ((2, 0), "F")):
        stream = io.BytesIO()
        np.lib.format.write_array(stream, np.asarray(array, order=order), version=version)
        cloud = read(tmp_path, "a.npy", stream.getvalue())
        np.testing.assert_array_equal(cloud.points, array[:, :3])
        assert cloud.columns["column4"].tolist() == [9, 8]
    named = np.array([(3.0, "a", 1.0, 2.0)], dtype=[("z", "f4"), ("kind", "U1"), ("x", "f8"), ("y", "f8")])
    np.save(tmp_path / "b.npy", named)
    assert read_cloud(tmp_path / "b.npy").points.tolist() == [[1, 2, 3]]


def test_gzip(tmp_path):
    assert read(tmp_path, "a.csv.gz", gzip.compress(b"1,2,-3\n4.5,5,6\n")).points.tolist() == POINTS
    with pytest.raises(InputError, match="damaged or truncated"):
        read(tmp_path, "a.csv.gz", gzip.compress(b"1,2,-3\n4.5,5,6\n" * 99)[:40])


def npy(array, cut: int | None = None) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=True)
    return stream.getvalue()[:cut]


HUGE = npy(np.zeros((9, 3))).replace(b"(9, 3)", b"(999999999, 3)").replace(b" " * 8 + b"\n", b"\n")
DIRTY = npy(np.array([{}, 1, 2], dtype=object))


@pytest.mark.parametrize(
    ("name", "content", "complaint"),
    [
        ("a.csv", b"", "empty file"),
        ("a.csv", b"x,y,z\n", "at least three numbers.* got none"),
        ("a.txt", b"nothing to see here\n" * 200, "at least three numbers.* got none"),
        ("a.csv", b"1,2\n3,4\n", "at least three numbers.*'1,2' in line 1"),
        ("a.csv", b"1,2,3\n4,5\n", "rows of 3 numbers from line 1 on.*cut short"),
        ("a.csv", b"x,y,z\n1,2,3\n4,,6\n", "rows of 3 numbers from line 2 on"),
        ("a.csv", b"x,y,z,w\n,2,3,4\n1,5,6,7\n", "',2,3,4' in line 2"),
        ("a.csv", b"x,y,z,w\nn/a,2,3,4\n1,5,6,7\n", "'n/a,2,3,4' in line 2"),
        ("a.csv", b"1,a,3\n4,5,6\n", "'1,a,3' in line 1"),
        ("a.csv", b"1,2,inf\n4,5,6\n", "finite coordinates, got NaN or inf in 1 of 2"),
        ("a.xyz", b"\x00\x01\x02\xff" * 20, "expected text, got binary data"),
        ("a.pts", b"3\n1 2 3\n4 5 6\n", "expected 3 points, as its first line says, got 2"),
        ("a.obj", b"vn 0 0 1\nf 1 2 3\n", "lines 'v x y z'.* got none"),
        ("a.obj", b"v 1 2 3\nv 4 5\n", "expected lines 'v x y z'.*cut short"),
        ("a.obj", b"v 1 2 3\nv 4 5 nan\n", "finite"),
        ("a.obj", b"v # nothing\n", "expected lines 'v x y z'"),
        ("a.obj", b"\x00v 1 2 3", "binary data"),
        ("a.npy", npy(np.zeros((4, 3)), -8), "expected 96 bytes of numbers, as its header says, got 88"),
        ("a.npy", npy(np.zeros((10, 3))).replace(b"(10,", b"(-1,"), r"an array .* got shape \(-1, 3\)"),
        ("a.npy", npy(np.zeros((10, 3))).replace(b"(10,", b" 10,"), "written by np.save"),
        ("a.npy", HUGE, "expected 23999999976 bytes"),
        ("a.npy", npy(np.zeros((4, 2))), "at least three columns.* got 2"),
        ("a.npy", npy(np.zeros((0, 3))), "shape"),
        ("a.npy", npy(np.zeros(4)), r"an array \(n, 3\) of numbers, got shape \(4,\)"),
        ("a.npy", npy(np.array([["a"] * 3])), "an array .* of numbers"),
        ("a.npy", DIRTY, "an array .* got shape .* of object"),
        ("a.npy", pickle.dumps([1]), "written by np.save"),
        ("a.npy", b"\x93NUMPY\x01\x00", "written by np.save"),
        ("a.las", b"LASF", r"expected one of \.ply, \.obj, \.xyz, \.txt, \.pts, \.csv, \.npy .*, got \.las"),
        ("a", b"1 2 3", "got no suffix"),
        ("a.gz", b"1 2 3", "got .gz"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said(tmp_path, name, content, complaint):
    with pytest.raises(InputError, match=complaint) as raised:
        read(tmp_path, name, content)
    assert str(tmp_path / name) in str(raised.value)


def test_files_that_are_not_there(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        read_cloud(tmp_path / "a.ply")
    (tmp_path / "b.ply").mkdir()
    with pytest.raises(InputError, match="a directory"):
        read_cloud(tmp_path / "b.ply")


@pytest.mark.parametrize("name", ["a.ply", "a.csv", "a.obj"])
def test_reading_is_fast(tmp_path, name):
    cloud = Cloud(np.random.default_rng(0).standard_normal((20_000, 3)))
    write_cloud(tmp_path / name, cloud)
    began = time.perf_counter()
    found = read_cloud(tmp_path / name)
    assert time.perf_counter() - began < 1
    np.testing.assert_array_equal(found.points, cloud.points)


def test_the_measured_scans(data_dir):
    scan = read_cloud(data_dir / "scans" / "lidar-source.ply")
    assert scan.points.shape == (69_792, 3)
    assert list(scan.columns) == ["scalar_intensity"]
    left, right = (read_cloud(data_dir / "scans" / f"car_cloud{i}.csv") for i in (400, 401))
    assert (len(left), len(right)) == (24_989, 25_193)
    np.testing.assert_allclose(np.linalg.norm(left.normals, axis=1), 1, atol=1e-4)
    assert right.normals is None
    assert len(read_cloud(data_dir / "shapes" / "cow.obj")) == 2903
