"""Every engine, the real one: what goes in comes out, a broken-off write goes on, nothing is silently lost."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys

import numpy as np
import pytest

import invarot.stores as stores
from invarot.errors import InputError, MissingExtra
from invarot.stores import Batch, Info, StoreUnavailable
from invarot.stores.protocol import rechunk, retry

# the engines warn of their own futures
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]

NEEDS = {"parquet": "pyarrow", "arrow": "pyarrow", "faiss": "faiss", "lancedb": "lancedb", "qdrant": "qdrant_client",
         "chroma": "chromadb"}  # fmt: skip
WHERE = {
    "npy": "{0}/rows.npy", "npz": "{0}/rows.npz", "safetensors": "{0}/rows.safetensors", "parquet": "{0}/rows.parquet",
    "arrow": "{0}/rows.arrow", "faiss": "{0}/rows.faiss", "lancedb": "lancedb:{0}/lance#rows",
    "qdrant": "qdrant:{0}/qdrant#rows", "chroma": "chroma:{0}/chroma#rows",
}  # fmt: skip


def need(kind: str) -> None:
    package = NEEDS.get(kind)
    if package is not None and importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed: pip install 'invarot[stores]'")


@pytest.fixture(params=list(WHERE))
def store(request, tmp_path):
    need(request.param)
    found = stores.open(WHERE[request.param].format(tmp_path))
    yield found
    if found.exists():
        found.close()


def rows(count: int, dimension: int = 4, first: int = 0) -> Batch:
    """Rows whose ids, vectors and payload follow from their numbers."""
    numbers = np.arange(first, first + count)
    vectors = np.stack([np.cos(numbers + k) for k in range(dimension)], axis=1).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)  # Qdrant keeps cosine vectors at unit length
    return Batch([int(one) * 3 for one in numbers], vectors, [{"n": int(one), "text": f"row {one}"} for one in numbers])


def as_sorted(found: list[Batch]) -> list[tuple]:
    listed = [
        (int(id), tuple(np.round(vector.astype(float), 5).tolist()), tuple(sorted(payload.items())))
        for batch in found for id, vector, payload in zip(batch.ids, batch.vectors, batch.payload, strict=True)
    ]  # fmt: skip
    return sorted(listed)


ALL = Info(10, 4, whole_ids=True)


def test_what_goes_in_comes_out(store):
    assert not store.exists()
    assert store.begin(ALL, 4) == 0
    for first in (0, 4, 8):
        store.append(rows(min(4, 10 - first), first=first))
    store.finish()
    assert store.exists()
    info = store.info()
    assert (info.count, info.dimension) == (10, 4)
    found = list(store.read(3))
    assert [len(batch) for batch in found] == [3, 3, 3, 1]
    assert as_sorted(found) == as_sorted([rows(10)])
    tail = [id for batch in store.read(3, start=7) for id in batch.ids]
    assert tail == [id for batch in found for id in batch.ids][7:]
    assert store.space() > 0


def test_a_write_that_was_broken_off_goes_on(store, tmp_path):
    store.begin(ALL, 4)
    store.append(rows(4))
    again = stores.open(store.address)
    assert again.begin(ALL, 4) == 4
    again.append(rows(4, first=4))
    again.append(rows(2, first=8))
    again.finish()
    assert as_sorted(list(again.read(100))) == as_sorted([rows(10)])


def test_drop_leaves_nothing(store):
    store.begin(ALL, 4)
    store.append(rows(10))
    store.finish()
    store.drop()
    assert not store.exists()
    assert store.begin(ALL, 4) == 0


def test_a_store_that_is_not_there(store, tmp_path):
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(InputError, match="got nothing there; check the path"):
        store.info()
    assert sorted(tmp_path.rglob("*")) == before  # asking makes nothing


def test_reading_leaves_the_source_as_it_is(store, tmp_path):
    store.begin(ALL, 4)
    store.append(rows(10))
    store.finish()
    files = lambda: {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}  # noqa: E731
    before = files()
    again = stores.open(store.address)
    again.info()
    assert len(list(again.read(4))) == 3
    assert files() == before


@pytest.mark.parametrize("kind", ["npy", "npz", "safetensors", "faiss"])
def test_a_torn_row_is_cut_off(kind, tmp_path):
    need(kind)
    store = stores.open(WHERE[kind].format(tmp_path))
    store.begin(ALL, 4)
    store.append(rows(4))
    with open(store.spool.folder / "vectors.f4", "ab") as stream:
        stream.write(b"12345678")  # half a vector
    assert store.begin(ALL, 4) == 4
    store.append(rows(4, first=4))
    with open(store.spool.folder / "rows.jsonl", "ab") as stream:
        stream.write(b'{"id": 9')  # half a line
    assert store.begin(ALL, 4) == 8
    store.append(rows(2, first=8))
    store.finish()
    assert as_sorted(list(store.read(100))) == as_sorted([rows(10)])


def test_half_a_batch_is_written_again(tmp_path):
    need("chroma")
    store = stores.open(WHERE["chroma"].format(tmp_path))
    store.begin(ALL, 4)
    store.append(rows(6))  # as if the second batch had been cut in half
    assert store.begin(ALL, 4) == 4


def test_a_table_that_a_crash_left_without_a_beginning(tmp_path):
    need("lancedb")
    store = stores.open(WHERE["lancedb"].format(tmp_path))
    (tmp_path / "lance" / "rows.lance" / "data").mkdir(parents=True)
    with pytest.raises(InputError, match="got a folder that cannot be read as one"):
        store.info()
    assert store.begin(ALL, 4) == 0
    assert store.info().count == 0


@pytest.mark.parametrize("kind", ["lancedb", "parquet", "arrow"])
def test_columns_and_their_types_are_kept(kind, tmp_path):
    need(kind)
    import pyarrow as pa

    schema = pa.schema([("key", pa.string()), ("year", pa.int16()), ("tags", pa.list_(pa.string()))])
    store = stores.open(WHERE[kind].format(tmp_path))
    store.begin(Info(2, 2, schema=schema, id_name="key", vector_name="emb"), 2)
    payload = [{"year": 1999, "tags": ["a"]}, {"year": None, "tags": []}]
    store.append(Batch(["x", "y"], np.eye(2, dtype=np.float32), payload))
    store.finish()
    info = store.info()
    assert (info.id_name, info.vector_name) == ("key", "emb")
    assert info.schema.field("year").type == pa.int16()
    (batch,) = store.read(5)
    assert batch.ids == ["x", "y"]
    assert batch.payload == payload


def test_vectors_of_two_dimensions(tmp_path):
    need("parquet")
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"id": [1, 2], "vector": [[1.0, 2.0], [1.0, 2.0, 3.0]]}), tmp_path / "two.parquet")
    with pytest.raises(InputError, match="expected vectors of 2 dimensions, got 3 in row 1"):
        list(stores.open(tmp_path / "two.parquet").read(10))


def test_a_missing_vector_and_a_choice_of_columns(tmp_path):
    need("parquet")
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"a": [[1.0], None], "b": [[1.0, 2.0], [3.0, 4.0]], "doc": ["x", "y"]}), path)
    with pytest.raises(InputError, match=r"expected one column of vectors, got \['a', 'b'\]; add \?vector=NAME"):
        stores.open(path).info()
    (batch,) = stores.open(f"{path}?vector=b&id=doc").read(5)
    assert batch.ids == ["x", "y"]
    assert batch.vectors.shape == (2, 2)
    with pytest.raises(InputError, match="expected a vector in every row, got null in row 1"):
        list(stores.open(f"{path}?vector=a").read(5))


def test_nan(tmp_path):
    values = np.eye(3, dtype=np.float32)
    values[2, 1] = np.nan
    np.save(tmp_path / "bad.npy", values)
    with pytest.raises(InputError, match="expected finite vectors, got NaN or inf in row 2"):
        list(stores.open(tmp_path / "bad.npy").read(2))


def test_npz_with_words_is_streamed(tmp_path):
    path = tmp_path / "words.npz"
    np.savez_compressed(path, words=np.array(["a", "b", "c"]), vectors=np.eye(3, dtype=np.float16))
    found = list(stores.open(path).read(2, start=1))
    assert [batch.ids for batch in found] == [["b", "c"]]
    np.testing.assert_array_equal(found[0].vectors, np.eye(3)[1:])


def test_faiss_reads_back_what_we_write_and_we_what_it_writes(tmp_path):
    need("faiss")
    import faiss

    store = stores.open(tmp_path / "ours.faiss")
    store.begin(Info(10, 4, "l2", whole_ids=True), 10)
    store.append(rows(10))
    store.finish()
    index = faiss.read_index(str(tmp_path / "ours.faiss"))
    found, ids = index.search(rows(10).vectors, 1)
    assert ids[:, 0].tolist() == rows(10).ids
    assert found.max() < 1e-6
    inverted = faiss.index_factory(4, "IVF2,Flat", faiss.METRIC_INNER_PRODUCT)
    inverted.train(rows(200).vectors)
    inverted.add(rows(200).vectors)
    faiss.write_index(inverted, str(tmp_path / "theirs.index"))
    (batch,) = stores.open(tmp_path / "theirs.index").read(500)
    np.testing.assert_allclose(batch.vectors, rows(200).vectors, rtol=1e-6)
    assert stores.open(tmp_path / "theirs.index").info().metric == "dot"


def test_ids_that_qdrant_cannot_hold(tmp_path):
    need("qdrant")
    store = stores.open(WHERE["qdrant"].format(tmp_path))
    store.begin(Info(1, 2), 1)
    store.append(Batch(["doc-1"], np.ones((1, 2), np.float32), [{"a": {"b": [1]}}]))
    (batch,) = store.read(1)
    assert batch.payload == [{"a": {"b": [1]}, "id": "doc-1"}]
    with pytest.raises(InputError, match="expected no key 'id'"):
        store.append(Batch(["doc-1"], np.ones((1, 2), np.float32), [{"id": 7}]))
    store.close()


def test_a_folder_in_use_is_called_locked(tmp_path):
    need("qdrant")
    store = stores.open(WHERE["qdrant"].format(tmp_path))
    store.begin(ALL, 4)
    code = f"import invarot.stores as s; s.open({store.address!r}).info()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "expected a folder that is not in use, got one that is locked" in done.stderr
    store.close()


def test_nested_payload_is_refused_where_it_cannot_be_kept(tmp_path):
    need("chroma")
    store = stores.open(WHERE["chroma"].format(tmp_path))
    store.begin(Info(1, 2), 1)
    with pytest.raises(InputError, match="expected a payload of strings, numbers and flags"):
        store.append(Batch(["a"], np.ones((1, 2), np.float32), [{"a": {"b": 1}}]))


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("old.csv", "expected a file ending in"),
        ("weaviate:there#x", "expected a file or one of lancedb, qdrant, chroma, got 'weaviate'"),
        ("lancedb:s3://bucket/db#docs", "expected a LanceDB folder on this machine"),
        ("lancedb:folder", "expected lancedb:FOLDER#COLLECTION"),
        ("old.npy?vector=a", "expected a known option, got 'vector'"),
    ],
)
def test_bad_addresses(address, message):
    with pytest.raises(InputError, match=message):
        stores.open(address)


def test_a_server_that_is_away_is_tried_again():
    calls, pauses = [], []

    def answer() -> str:
        calls.append(1)
        if len(calls) < 3:
            raise ConnectionError("refused")
        return "here"

    gone = lambda error: isinstance(error, ConnectionError)  # noqa: E731
    assert retry(answer, "qdrant:http://x#y", gone, sleep=pauses.append) == "here"
    assert pauses == [0.5, 1.0]

    def silent() -> str:
        raise ConnectionError("refused")

    with pytest.raises(StoreUnavailable, match="run the same command again: it resumes"):
        retry(silent, "qdrant:http://x#y", gone, sleep=pauses.append)


@pytest.mark.parametrize("kind", ["qdrant", "chroma"])
def test_no_server_at_all(kind, monkeypatch):
    need(kind)
    monkeypatch.setattr("invarot.stores.protocol.FIRST_PAUSE", 0.0)
    with pytest.raises(StoreUnavailable, match="expected a server that answers"):
        stores.open(f"{kind}:http://127.0.0.1:9#rows").info()


@pytest.mark.parametrize("kind", list(NEEDS))
def test_an_extra_that_is_not_installed_names_the_command(kind, tmp_path, monkeypatch):
    for package in ("pyarrow", "pyarrow.feather", "faiss", "lancedb", "qdrant_client", "chromadb", "chromadb.errors"):
        monkeypatch.setitem(sys.modules, package, None)
    extra = {"parquet": "arrow"}.get(kind, kind)

    def write() -> None:
        store = stores.open(WHERE[kind].format(tmp_path))
        store.begin(Info(1, 2), 1)
        store.append(Batch([7], np.ones((1, 2), np.float32), [{}]))
        store.finish()

    with pytest.raises(MissingExtra, match=rf"pip install 'invarot\[{extra}\]'"):
        write()


def test_a_chroma_index_that_a_crash_damaged_is_made_again(tmp_path):
    need("chroma")
    code = (
        "import sys, numpy as np, invarot.stores as s; from invarot.stores import Batch, Info\n"
        f"store = s.open({WHERE['chroma'].format(tmp_path)!r}); first = store.begin(Info(1200, 2), 600); print(first)\n"
        "for row in range(first, 1200, 600): store.append(Batch(list(range(row, row + 600)), np.ones((600, 2)), [{}] * 600))\n"
        "print(store.info().count)"
    )
    run = lambda: subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True).stdout  # noqa: E731
    assert run().split() == ["0", "1200"]
    assert run().split() == ["1200", "1200"]
    for file in (tmp_path / "chroma").glob("*/*.bin"):
        os.truncate(file, 20)
    assert run().split() == ["0", "1200"]


def test_rechunk_keeps_rows_and_sizes():
    parts = [rows(3), rows(1, first=3), rows(7, first=4)]
    assert [len(batch) for batch in rechunk(iter(parts), 4)] == [4, 4, 3]
    assert as_sorted(list(rechunk(iter(parts), 4))) == as_sorted([rows(11)])
