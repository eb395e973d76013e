"""Rows of files that one rank reads: those it was asked for, whatever the format."""

from __future__ import annotations

import numpy as np
import pytest

from invarot import InputError
from invarot.distributed import files
from invarot.distributed.files import read_rows

POINTS = np.random.default_rng(0).standard_normal((25, 3)).astype(np.float32)


def write(path):
    if path.suffix == ".npy":
        np.save(path, POINTS)
    elif path.suffix == ".safetensors":
        from safetensors.numpy import save_file

        save_file({"vectors": POINTS}, path)
    else:
        arrow = pytest.importorskip("pyarrow", reason="needs Arrow: pip install 'invarot[stores]'")
        from pyarrow import parquet

        vectors = arrow.FixedSizeListArray.from_arrays(arrow.array(POINTS.reshape(-1)), 3)
        parquet.write_table(arrow.table({"vector": vectors}), path, row_group_size=7)


@pytest.mark.parametrize("name", ["points.npy", "points.safetensors", "points.parquet"])
def test_each_rank_reads_its_own_rows(tmp_path, monkeypatch, name):
    """Three ranks, in chunks that end inside of parts and of row groups."""
    monkeypatch.setattr(files, "CHUNK", 4)
    write(tmp_path / name)
    for rank in range(3):
        begin, end = 25 * rank // 3, 25 * (rank + 1) // 3
        np.testing.assert_array_equal(read_rows(tmp_path / name, begin, end), POINTS[begin:end])


def test_rows_of_several_files(tmp_path, monkeypatch):
    """Ranks whose rows begin and end inside of files; an empty pattern and files of other widths are told."""
    monkeypatch.setattr(files, "CHUNK", 4)
    for number, part in enumerate(np.split(POINTS, [3, 3, 14])):
        if len(part):
            np.save(tmp_path / f"part-{number}.npy", part)
    pattern = str(tmp_path / "part-*.npy")
    assert files.count_rows(pattern) == 25
    for rank in range(4):
        begin, end = 25 * rank // 4, 25 * (rank + 1) // 4
        np.testing.assert_array_equal(read_rows(pattern, begin, end), POINTS[begin:end])
    with pytest.raises(InputError, match="expected files of this pattern, got none"):
        files.count_rows(str(tmp_path / "other-*.npy"))
    np.save(tmp_path / "part-9.npy", POINTS[:, :2])
    with pytest.raises(InputError, match=r"expected 3 columns, as in .*, got 2"):
        read_rows(pattern, 0, 27)


def test_a_file_that_is_shorter_is_said_to_be(tmp_path):
    write(tmp_path / "points.npy")
    with pytest.raises(InputError, match="expected 30 rows, got 25"):
        read_rows(tmp_path / "points.npy", 0, 30)
