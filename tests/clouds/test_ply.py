"""PLY files of every kind, and those that are damaged."""

from __future__ import annotations

import struct
import tracemalloc

import numpy as np
import pytest

from invarot import InputError
from invarot.clouds import read_cloud
from invarot.clouds.ply import TYPES

POINTS = np.array([[0.5, -1.0, 2.0], [3.0, 4.25, -5.0], [1e3, 0.0, 1.0]])
FACES = [[0, 1, 2], [2, 1, 0, 1], []]


def header(kind: str, *elements: str) -> bytes:
    return "\n".join(["ply", f"format {kind} 1.0", "comment made by hand", *elements, "end_header\n"]).encode()


def vertices(*properties: str, count: int = 3) -> list[str]:
    axes = [f"property float {axis}" for axis in "xyz"]
    return [f"element vertex {count}", *axes, *(f"property {one}" for one in properties)]


def pack_faces(order: str) -> bytes:
    return b"".join(struct.pack(f"{order}B{len(face)}i", len(face), *face) for face in FACES)


def read(tmp_path, content: bytes):
    path = tmp_path / "a.ply"
    path.write_bytes(content)
    return read_cloud(path)


FACE = ["element face 3", "property list uchar int vertex_indices"]


@pytest.mark.parametrize("first", ["vertex", "face"])
@pytest.mark.parametrize(("kind", "order"), [("binary_little_endian", "<"), ("binary_big_endian", ">")])
def test_binary_of_either_byte_order_with_faces_before_or_after(tmp_path, kind, order, first):
    body = np.rec.fromarrays([*POINTS.T, [7, 8, 255]], dtype=[(c, f"{order}f4") for c in "xyz"] + [("red", "u1")])
    parts = [(vertices("uchar red"), body.tobytes()), (FACE, pack_faces(order))]
    if first == "face":
        parts.reverse()
    cloud = read(tmp_path, header(kind, *parts[0][0], *parts[1][0]) + parts[0][1] + parts[1][1])
    np.testing.assert_array_equal(cloud.points, POINTS)
    assert cloud.points.dtype == np.float64
    assert cloud.columns["red"].tolist() == [7, 8, 255]
    assert cloud.columns["red"].dtype == np.uint8


@pytest.mark.parametrize("name", [name for name in TYPES if not name.startswith("uint64")])
@pytest.mark.parametrize("kind", ["ascii", "binary_little_endian", "binary_big_endian"])
def test_every_type(tmp_path, name, kind):
    values = [[1, 2, 3, 4], [5, 6, 7, 8]]
    elements = ["element vertex 2", *(f"property {name} {axis}" for axis in ("x", "y", "z", "more"))]
    order = ">" if "big" in kind else "<"
    body = b"1 2 3 4\n5 6 7 8\n" if kind == "ascii" else np.array(values, dtype=order + TYPES[name]).tobytes()
    cloud = read(tmp_path, header(kind, *elements) + body)
    assert cloud.points.tolist() == [[1, 2, 3], [5, 6, 7]]
    assert cloud.columns["more"].tolist() == [4, 8]
    assert cloud.columns["more"].dtype == np.dtype(TYPES[name])


@pytest.mark.parametrize("line", ["\n", "\r\n", "\r"])
def test_ascii_with_any_line_end(tmp_path, line):
    text = header("ascii", *FACE, *vertices()).decode() + "3 0 1 2\n4 2 1 0 1\n0\n0.5 -1 2\n3 4.25 -5\n1e3 0 1\n"
    np.testing.assert_array_equal(read(tmp_path, text.replace("\n", line).encode()).points, POINTS)


def test_binary_that_begins_with_a_line_feed(tmp_path):
    points = np.frombuffer(b"\n\0\0\0" * 3, dtype="<f4")
    cloud = read(tmp_path, header("binary_little_endian", *vertices(count=1)) + points.tobytes())
    np.testing.assert_array_equal(cloud.points[0], points)


@pytest.mark.parametrize("kind", ["ascii", "binary_big_endian"])
def test_a_list_among_the_vertices_is_skipped(tmp_path, kind):
    elements = vertices("list uchar short seen", "double nx", "double ny", "double nz")
    seen = [[1], [], [4, 5]]
    if kind == "ascii":
        lines = [" ".join(map(str, [*p, len(s), *s, 0, 0, 1])) for p, s in zip(POINTS, seen, strict=True)]
        body = "\n".join(lines).encode()
    else:
        body = b"".join(
            struct.pack(f">3fB{len(s)}h3d", *p, len(s), *s, 0, 0, 1) for p, s in zip(POINTS, seen, strict=True)
        )
    cloud = read(tmp_path, header(kind, *elements) + body)
    np.testing.assert_array_equal(cloud.points, POINTS)
    np.testing.assert_array_equal(cloud.normals, [[0, 0, 1]] * 3)


BODY = POINTS.astype("<f4").tobytes()
LITTLE = "binary_little_endian"


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (header(LITTLE, *vertices()) + BODY[:-1], r"expected 3 rows of element vertex \(36 bytes or more\).* got 35; .*cut short"),
        (header(LITTLE, *vertices(count=10**15)) + BODY, "expected 1000000000000000 rows of element vertex"),
        (header(LITTLE, *FACE, *vertices()) + b"\xff" * 60, "rows of element face, got fewer"),
        (header(LITTLE, "element face 99999999999", FACE[1], *vertices()) + BODY, "99999999999 rows of element face"),
        (header("ascii", *vertices(count=10**15)) + b"1 2 3\n", "expected 1000000000000000 rows"),
        (header("ascii", *vertices()) + b"1 2 3\n4 5 6\n        ", "expected 3 points, as the header says, got 2"),
        (header("ascii", *vertices()) + b"1 2 3\n4 5 6\n7 8     \n", "expected 3 numbers in a line.*cut short"),
        (header("ascii", *vertices()) + b"1 2 3 4\n4 5 6 4\n7 8 9 4\n", "expected 3 numbers for each vertex, got 4"),
        (header("ascii", *vertices()) + b"1 2 3\n4 5 six\n7 8 9 \n", "'six'"),
        (header("ascii", *vertices()) + b"1 2 3\n4 5 nan\n7 8 9\n", "finite coordinates, got NaN or inf in 1 of 3 points.* row 1"),
        (header("ascii", *vertices(count=0)), "expected points .*got none"),
        (header("ascii", *FACE) + b"3 0 1 2\n", "expected points .*got none"),
        (header("ascii", "element vertex 1", "property float x", "property float y") + b"1 2\n", "got none named z"),
        (header("ascii", *vertices())[:-12], "ends with 'end_header'"),
        (header("ascii", "element vertex three"), "'element vertex three'"),
        (header("ascii", "element vertex -3"), "'element vertex -3'"),
        (header("ascii", *vertices("quad w")), "'property quad w'"),
        (header("ascii", *vertices("list float int w")), "'property list float int w'"),
        (header("binary_middle_endian", *vertices()), "'format binary_middle_endian 1.0'"),
        (b"ply\nelement vertex 3\nend_header\n", "expected a format line"),
        (b"solid cube\nfacet normal", "begins with 'ply'"),
        (bytes(range(256)), "begins with 'ply'"),
        (b"", "empty file"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said(tmp_path, content, complaint):
    with pytest.raises(InputError, match=complaint) as raised:
        read(tmp_path, content)
    assert str(tmp_path / "a.ply") in str(raised.value)


def test_a_claim_takes_no_memory(tmp_path):
    tracemalloc.start()
    for kind in ("ascii", LITTLE):
        with pytest.raises(InputError):
            read(tmp_path, header(kind, *vertices(count=10**9)) + BODY)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1 << 20
