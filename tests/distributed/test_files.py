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


def test_a_file_that_is_shorter_is_said_to_be(tmp_path):
    write(tmp_path / "points.npy")
    with pytest.raises(InputError, match="expected 30 rows, got 25"):
        read_rows(tmp_path / "points.npy", 0, 30)
