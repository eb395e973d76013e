"""Reading word vectors: every format, and every way a file can be wrong."""

from __future__ import annotations

import gzip
import io
import json
import pickle
import warnings
import zipfile
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from invarot.errors import InputError
from invarot.words import Vectors, VectorsWarning, read_vectors, text, write_vectors

EXPECTED = np.array([[1.5, -2.0, 0.25], [0.0, 1e-3, 7.0]], np.float32)
WORDS = ("house", "año")
PLAIN = "house 1.5 -2 0.25\naño 0 1e-3 7\n"


def write(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
    return path


def read_warned(path: Path, match: str, **options: object) -> Vectors:
    with pytest.warns(VectorsWarning, match=match):
        return read_vectors(path, **options)


def binary(words: list[bytes], table: np.ndarray, *, count: int | None = None, end: bytes = b"\n") -> bytes:
    rows = b"".join(word + b" " + row.astype("<f4").tobytes() + end for word, row in zip(words, table, strict=True))
    return b"%d %d\n" % (len(words) if count is None else count, table.shape[1]) + rows


# -- text ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "content",
    [
        "2 3\n" + PLAIN,
        PLAIN,
        PLAIN.rstrip("\n"),
        "2 3\r\n" + PLAIN.replace("\n", "\r\n"),
        "2 3\n" + PLAIN.replace("\n", " \n"),
        "2 3\n" + PLAIN.replace(" ", "\t"),
        "2 3\n" + PLAIN.replace(" ", "  "),
        "\ufeff2 3\n" + PLAIN,
        "\n2 3\n\n".lstrip("\n") + PLAIN.replace("\n", "\n\n"),
    ],
    ids=["header", "glove", "no-last-break", "crlf", "fasttext-space", "tabs", "two-spaces", "bom", "blank-lines"],
)
@pytest.mark.parametrize("packed", [False, True])
def test_text_layouts_all_give_the_same(tmp_path: Path, content: str, packed: bool) -> None:
    raw = content.encode("utf-8")
    found = read_vectors(write(tmp_path / "a.vec", gzip.compress(raw, mtime=0) if packed else raw))
    assert found.words == WORDS
    assert found.vectors.dtype == np.float32
    np.testing.assert_array_equal(found.vectors, EXPECTED)
    assert found.warnings == ()


def test_blocks_smaller_than_the_file_change_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = np.random.default_rng(0).standard_normal((200, 7)).astype(np.float32)
    lines = [f"w{i} " + " ".join(f"{v:.9g}" for v in row) for i, row in enumerate(table.tolist())]
    path = write(tmp_path / "a.vec", "200 7\n" + "\n".join(lines))
    for size in (16, 100, 1000):
        monkeypatch.setattr(text, "TEXT_BLOCK", size)
        found = read_vectors(path)
        np.testing.assert_array_equal(found.vectors, table)
        assert found.words == tuple(f"w{i}" for i in range(200))


def test_max_words_stops_before_later_trouble(tmp_path: Path) -> None:
    path = write(tmp_path / "a.vec", "3 3\n" + PLAIN + "broken 1 2\n")
    assert read_vectors(path, max_words=2).words == WORDS
    assert read_vectors(path, max_words=1).vectors.shape == (1, 3)
    assert len(read_warned(path, "too few", max_words=3)) == 2


def test_max_words_counts_words_not_lines(tmp_path: Path) -> None:
    path = write(tmp_path / "a.vec", "a 1 2\na 3 4\nb 5 6\nc 7 8\n")
    assert read_warned(path, "duplicate", max_words=2).words == ("a", "b")


def test_words_with_spaces_are_kept(tmp_path: Path) -> None:
    path = write(tmp_path / "a.txt", "a 1 2 3\nnew york 4 5 6\n. . . 7 8 9\nb 1 1 1\n")
    found = read_warned(path, r"2 × word with spaces \(kept\): line 2 \('new york'\), 3 \('\. \. \.'\)")
    assert found.words == ("a", "new york", ". . .", "b")
    np.testing.assert_array_equal(found.vectors[2], [7, 8, 9])


def test_no_break_space_is_part_of_a_word(tmp_path: Path) -> None:
    assert read_vectors(write(tmp_path / "a.vec", "1 2\n10\u00a0000\u0085 1 2\n")).words == ("10\u00a0000\u0085",)


def test_duplicates_keep_the_first(tmp_path: Path) -> None:
    found = read_warned(
        write(tmp_path / "a.vec", "4 2\na 1 2\nb 3 4\na 5 6\nb 7 8\n"),
        r"2 × duplicate word .*line 4 \('a'\), 5 \('b'\)",
    )
    assert found.words == ("a", "b")
    np.testing.assert_array_equal(found.vectors, [[1, 2], [3, 4]])


@pytest.mark.parametrize(
    ("row", "match"),
    [
        ("bad 1", r"1 × row with too few values \(dropped\): line 4$"),
        ("1 2", r"too few values"),
        ("bad 1.5 2.5 3.5", r"too many values \(dropped\): line 4$"),
        ("bad 1 x", r"not a number \(dropped\): line 4$"),
        ("bad 1 1_0", r"not a number"),
        ("bad 1 2,5", r"not a number"),
        ("bad 1.2.3 4", r"not a number"),
        ("bad 1 nan", r"NaN, infinite or too large values \(dropped\): line 4 \('bad'\)$"),
        ("bad inf 1", r"NaN, infinite"),
        ("bad 1e300 1", r"NaN, infinite or too large"),
    ],
)
def test_bad_rows_are_dropped_and_reported(tmp_path: Path, row: str, match: str) -> None:
    found = read_warned(write(tmp_path / "a.vec", f"4 2\na 1 2\nb 3 4\n{row}\nc 5 6\n"), match)
    assert found.words == ("a", "b", "c")
    np.testing.assert_array_equal(found.vectors, [[1, 2], [3, 4], [5, 6]])
    assert len(found.warnings) == 1


def test_values_that_would_cancel_in_a_count(tmp_path: Path) -> None:
    """A row short of one value beside a row with one too many: the total fits, the rows do not."""
    path = write(tmp_path / "a.vec", "5 2\na 1 2\nb 3\nc .4 .5 .6\nd 7 8\ne 9 9\n")
    with pytest.warns(VectorsWarning) as caught:
        assert read_vectors(path).words == ("a", "d", "e")
    assert sorted(str(w.message).split("× ")[1].split(" (")[0] for w in caught) == [
        "row with too few values",
        "row with too many values",
    ]


def test_many_troubles_make_one_warning(tmp_path: Path) -> None:
    rows = "".join(f"w{i} 1 2\n" + f"v{i} 1\n" for i in range(20)) + "x 1 2\n"
    found = read_warned(write(tmp_path / "a.vec", rows), r"20 × row with too few .*: line 2, 4, 6, 8, 10 and 15 more$")
    assert len(found.warnings) == 1


@pytest.mark.parametrize("count", [1, 5])
def test_wrong_count_in_the_header(tmp_path: Path, count: int) -> None:
    found = read_warned(write(tmp_path / "a.vec", f"{count} 3\n" + PLAIN), f"header says {count} words, the file has 2")
    assert found.words == WORDS


def test_wrong_dimension_in_the_header(tmp_path: Path) -> None:
    found = read_warned(
        write(tmp_path / "a.vec", "2 300\n" + PLAIN), "header says 300 values per word, most rows have 3"
    )
    np.testing.assert_array_equal(found.vectors, EXPECTED)


def test_the_header_decides_a_tie(tmp_path: Path) -> None:
    found = read_warned(write(tmp_path / "a.vec", "2 2\nnew york 1 2\nb 3 4\n"), "word with spaces")
    assert found.words == ("new york", "b")


def test_blank_lines_after_the_header(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text, "TEXT_BLOCK", 6)
    assert read_vectors(write(tmp_path / "a.vec", "2 3\n\n\n\n\n" + PLAIN)).words == WORDS


def test_a_lying_header_takes_no_memory(tmp_path: Path) -> None:
    found = read_warned(write(tmp_path / "a.vec", "999999999999 3\n" + PLAIN), "the file has 2 rows")
    assert found.vectors.shape == (2, 3)


def test_one_dimensional_rows_are_not_a_header(tmp_path: Path) -> None:
    found = read_vectors(write(tmp_path / "a.txt", "5 3\n6 2\n7 1\n"))
    assert found.words == ("5", "6", "7")


def test_bad_utf8(tmp_path: Path) -> None:
    path = write(tmp_path / "a.vec", b"3 2\na 1 2\nb\xff 3 4\nc 5 6\n")
    found = read_warned(path, r"not valid UTF-8 \(read with 'replace'\): line 3 \('b�'\)")
    assert found.words == ("a", "b\ufffd", "c")
    assert read_warned(path, "UTF-8", encoding_errors="ignore").words == ("a", "b", "c")
    kept = read_warned(path, "UTF-8", encoding_errors="surrogateescape").words[1]
    assert kept.encode("utf-8", "surrogateescape") == b"b\xff"
    with pytest.raises(InputError, match="expected UTF-8, got line 3"):
        read_vectors(path, encoding_errors="strict")


@pytest.mark.parametrize(
    ("content", "match"),
    [
        (b"", "empty"),
        (b"\n\n", "got none"),
        (b"0 300\n", "got none"),
        (b"just\nwords\nhere\n", "one field"),
        (b"this is prose\nand this as well\nno numbers\n", "do not fit"),
        (b"a 1 2\nb x y\nc u v\nd e f\n", "3 of 4 rows that do not fit"),
        (b"a nan nan\n", "do not fit|NaN"),
        (gzip.compress(PLAIN.encode() * 50, mtime=0)[:-20], "damaged"),
        (b"\x1f\x8b garbage", "damaged"),
        (pickle.dumps({"a": 1}), "pickle"),
        (b"\xba\x16\x4f\x2f\x0c\x00\x00\x00", "fastText model"),
        (b"PK\x03\x04 nonsense", "damaged"),
    ],
)
def test_files_that_hold_no_vectors(tmp_path: Path, content: bytes, match: str) -> None:
    with pytest.raises(InputError, match=match):
        read_vectors(write(tmp_path / "a.vec", content))


def test_a_file_without_line_breaks_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text, "LONGEST_LINE", 1000)
    monkeypatch.setattr(text, "TEXT_BLOCK", 512)
    with pytest.raises(InputError, match="no line break"):
        read_vectors(write(tmp_path / "a.vec", b"x" * 5000))


def test_directory_and_missing_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="directory"):
        read_vectors(tmp_path)
    with pytest.raises(InputError, match="no such file"):
        read_vectors(tmp_path / "none.vec")


@pytest.mark.parametrize(
    "options",
    [
        {"max_words": 0},
        {"max_words": -3},
        {"max_words": 2.5},
        {"max_words": True},
        {"format": "word2vec"},
        {"encoding_errors": "skip"},
        {"vocabulary": ["a", "b"]},
    ],
)
def test_bad_options(tmp_path: Path, options: dict[str, object]) -> None:
    with pytest.raises(InputError, match=next(iter(options))):
        read_vectors(write(tmp_path / "a.vec", PLAIN), **options)


# -- binary ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("end", [b"", b"\n"])
@pytest.mark.parametrize("name", ["a.bin", "a.vec"])
def test_binary(tmp_path: Path, end: bytes, name: str) -> None:
    path = write(tmp_path / name, binary([w.encode() for w in WORDS], EXPECTED, end=end))
    found = read_vectors(path)
    assert found.words == WORDS
    np.testing.assert_array_equal(found.vectors, EXPECTED)
    assert read_vectors(path, max_words=1).words == ("house",)


def test_text_named_bin_is_read_as_text(tmp_path: Path) -> None:
    assert read_vectors(write(tmp_path / "a.bin", "2 3\n" + PLAIN)).words == WORDS


def test_binary_troubles(tmp_path: Path) -> None:
    table = np.vstack([EXPECTED, EXPECTED])
    table[3, 0] = np.nan
    path = write(tmp_path / "a.bin", binary([b"a", b"b\xff", b"a", b"c"], table))
    with pytest.warns(VectorsWarning) as caught:
        assert read_vectors(path).words == ("a", "b\ufffd")
    said = " ".join(str(w.message) for w in caught)
    assert "duplicate word" in said
    assert "row 3 ('a')" in said
    assert "UTF-8" in said
    assert "NaN" in said


def test_binary_wrong_counts(tmp_path: Path) -> None:
    words = [w.encode() for w in WORDS]
    assert (
        len(read_warned(write(tmp_path / "a.bin", binary(words, EXPECTED, count=9)), "ends after 2 complete rows")) == 2
    )
    assert len(read_warned(write(tmp_path / "b.bin", binary(words, EXPECTED, count=1)), "more bytes follow")) == 1
    cut = binary(words, EXPECTED)[:-5]
    assert len(read_warned(write(tmp_path / "c.bin", cut), "header says 2 words, the file ends after 1")) == 1


@pytest.mark.parametrize(
    "content",
    [b"nothing", b"2 3\nab", b"2 99999999999\na \x01\x02", b"2 0\n", b"3 4\n" + b"x" * 40000 + b" " + b"1" * 99],
)
def test_binary_nonsense(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(InputError, match=r"row|first line|values per word"):
        read_vectors(write(tmp_path / "a.bin", content))


# -- arrays ----------------------------------------------------------------------------------------------------------


def test_npz(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", words=np.array(WORDS), vectors=EXPECTED.astype(np.float16))
    found = read_vectors(tmp_path / "a.npz", max_words=1)
    assert found.words == ("house",)
    np.testing.assert_array_equal(found.vectors, EXPECTED[:1])
    np.savez(tmp_path / "b.npz", words=np.array([w.encode() for w in WORDS]), vectors=EXPECTED)
    assert read_vectors(tmp_path / "b.npz").words == WORDS


@pytest.mark.parametrize(
    ("arrays", "match"),
    [
        ({"words": np.array(WORDS)}, "'words' and 'vectors', got"),
        ({"words": np.array(WORDS, dtype=object), "vectors": EXPECTED}, "pickle"),
        ({"words": np.arange(2), "vectors": EXPECTED}, "expected strings in .words."),
        ({"words": np.array(WORDS), "vectors": EXPECTED[:1]}, "2 words in .* and 1 rows"),
        ({"words": np.array(WORDS), "vectors": EXPECTED[0]}, "expected a table"),
        ({"words": np.array(WORDS), "vectors": EXPECTED.astype("U8")}, "expected a table"),
        ({"words": np.array(WORDS), "vectors": EXPECTED * np.nan}, "no usable row"),
        ({"words": np.array([], dtype="U1"), "vectors": EXPECTED[:0]}, "no usable row"),
    ],
)
def test_npz_troubles(tmp_path: Path, arrays: dict[str, np.ndarray], match: str) -> None:
    np.savez(tmp_path / "a.npz", **arrays)
    with pytest.raises(InputError, match=match):
        read_vectors(tmp_path / "a.npz")


def test_a_format_that_is_named_is_believed(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", EXPECTED)
    for wrong in ("npz", "text", "glove", "bin", "safetensors"):
        with pytest.raises(InputError, match=r"a\.npy"):
            read_vectors(tmp_path / "a.npy", format=wrong)
    path = write(tmp_path / "a.unknown", binary([b"a", b"b"], EXPECTED))
    assert read_vectors(path, format="bin").words == ("a", "b")
    with pytest.raises(InputError, match="plain array"):
        read_vectors(write(tmp_path / "b.npy", PLAIN), format="npy", vocabulary=WORDS)


def test_npz_duplicates_and_nan(tmp_path: Path) -> None:
    table = np.vstack([EXPECTED, np.full((2, 3), np.inf), EXPECTED]).astype(np.float64)
    np.savez(tmp_path / "a.npz", words=np.array(["a", "b", "c", "d", "b", "e"]), vectors=table)
    with pytest.warns(VectorsWarning) as caught:
        found = read_vectors(tmp_path / "a.npz")
    assert found.words == ("a", "b", "e")
    assert {str(w.message).split(": ", 1)[1] for w in caught} == {
        "2 × row with NaN, infinite or too large values (dropped): row 3 ('c'), 4 ('d')",
        "1 × duplicate word (the first was kept): row 5 ('b')",
    }


def test_npy_with_vocabulary(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", EXPECTED)
    with pytest.raises(InputError, match=r"a\.vocab does not exist"):
        read_vectors(tmp_path / "a.npy")
    assert read_vectors(tmp_path / "a.npy", vocabulary=WORDS).words == WORDS
    listed = write(tmp_path / "words.txt", "new york\r\naño")
    assert read_vectors(tmp_path / "a.npy", vocabulary=listed).words == ("new york", "año")
    write(tmp_path / "a.vocab", "house\naño\n")
    assert read_vectors(tmp_path / "a.npy").words == WORDS
    with pytest.raises(InputError, match="got 1 words in the vocabulary and 2 rows in the table"):
        read_vectors(tmp_path / "a.npy", vocabulary=["x"])
    with pytest.raises(InputError, match="no such file"):
        read_vectors(tmp_path / "a.npy", vocabulary=tmp_path / "none")
    np.save(tmp_path / "b.npy", np.array([{}], dtype=object), allow_pickle=True)
    with pytest.raises(InputError, match="plain array"):
        read_vectors(tmp_path / "b.npy", vocabulary=["x"])


def test_safetensors(tmp_path: Path) -> None:
    from safetensors.numpy import save_file

    save_file({"table": EXPECTED}, tmp_path / "a.safetensors", metadata={"words": json.dumps(WORDS)})
    found = read_vectors(tmp_path / "a.safetensors")
    assert found.words == WORDS
    np.testing.assert_array_equal(found.vectors, EXPECTED)
    assert read_vectors(tmp_path / "a.safetensors", vocabulary=["x", "y"], max_words=1).words == ("x",)
    save_file({"one": EXPECTED, "two": EXPECTED}, tmp_path / "b.safetensors")
    with pytest.raises(InputError, match="one table or one named 'vectors'"):
        read_vectors(tmp_path / "b.safetensors", vocabulary=WORDS)
    save_file({"vectors": EXPECTED}, tmp_path / "c.safetensors", metadata={"words": "{"})
    with pytest.raises(InputError, match="JSON list"):
        read_vectors(tmp_path / "c.safetensors")
    with pytest.raises(InputError, match="cannot be read"):
        read_vectors(write(tmp_path / "d.safetensors", b"nonsense that is long enough"), vocabulary=WORDS)


def test_safetensors_of_a_type_numpy_lacks(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    from safetensors.torch import save_file

    save_file({"vectors": torch.zeros(2, 3, dtype=torch.bfloat16)}, tmp_path / "a.safetensors")
    with pytest.raises(InputError, match="float16, float32"):
        read_vectors(tmp_path / "a.safetensors", vocabulary=WORDS)


def test_objects(tmp_path: Path) -> None:
    keyed = SimpleNamespace(index_to_key=list(WORDS), vectors=EXPECTED)
    found = read_vectors(keyed)
    assert found.words == WORDS
    assert not np.shares_memory(found.vectors, EXPECTED)
    assert read_vectors(SimpleNamespace(wv=keyed), max_words=1).words == ("house",)
    assert read_vectors(found, max_words=1).words == ("house",)
    assert read_vectors(found) is found
    with pytest.raises(InputError, match="got dict"):
        read_vectors({"house": [1.0]})
    with pytest.raises(InputError, match="vocabulary, format: expected None for an object"):
        read_vectors(keyed, vocabulary=["a"])


def test_vectors_need_one_row_per_word() -> None:
    with pytest.raises(InputError, match="one row per word"):
        Vectors(("a",), EXPECTED)
    with pytest.raises(InputError, match="one row per word"):
        Vectors(WORDS, EXPECTED[0])
    both = Vectors(WORDS, EXPECTED)
    assert both.index() == {"house": 0, "año": 1}
    assert both.take([1, 0]).words == ("año", "house")
    np.testing.assert_array_equal(both.take([1]).vectors, EXPECTED[1:])


def test_reading_is_silent_when_nothing_is_wrong(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read_vectors(write(tmp_path / "a.vec", "2 3\n" + PLAIN))


# -- hostile files ---------------------------------------------------------------------------------------------------


def zipped(members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return stream.getvalue()


def as_npy(array: np.ndarray, shape: tuple[int, ...] | None = None) -> bytes:
    """An npy file, with another shape in its header if one is given."""
    stream = io.BytesIO()
    header = {"descr": np.lib.format.dtype_to_descr(array.dtype), "fortran_order": False, "shape": shape or array.shape}
    np.lib.format.write_array_header_1_0(stream, header)
    return stream.getvalue() + array.tobytes()


WORD_ARRAY = np.array(WORDS)


@pytest.mark.parametrize(
    ("name", "content", "match"),
    [
        ("a.gz", gzip.compress(b"1000000 1048576\n" + bytes(100), mtime=0), "truncated or not word2vec binary"),
        ("a.gz", gzip.compress(b"a 1 2\n" * (1 << 22), mtime=0), "unpacks to at most 8 MiB"),
        ("a.gz", gzip.compress(b"\n" * (1 << 25), mtime=0), "unpacks to at most 8 MiB"),
        ("a.npz", zipped({"words.npy": as_npy(WORD_ARRAY), "vectors.npy": bytes(1 << 26)}), "unpacks to at most"),
        ("a.npz", zipped({"words.npy": as_npy(WORD_ARRAY), "vectors.npy": as_npy(EXPECTED, (1 << 20, 1 << 20))}), "fewer bytes"),
        ("a.npz", zipped({"words.npy": as_npy(np.array([], "V0"), (10**15,)), "vectors.npy": b""}), "fewer bytes|V0"),
        ("a.npz", zipped({"words.npy": as_npy(WORD_ARRAY), "vectors.npy": as_npy(EXPECTED)}, zipfile.ZIP_LZMA), "stored or deflated"),
        ("a.npy", as_npy(EXPECTED, (1 << 40, 3)), "expected a plain array|valid file"),
        ("a.safetensors", (2).to_bytes(8, "little") + b"[]", "cannot be read"),
    ],
    ids=range(9),
)  # fmt: skip
def test_small_files_that_claim_much(tmp_path: Path, name: str, content: bytes, match: str) -> None:
    (tmp_path / "a.vocab").write_text("a\nb\n")
    with pytest.raises(InputError, match=match):
        read_vectors(write(tmp_path / name, content))


def test_an_encrypted_archive(tmp_path: Path) -> None:
    content = bytearray(zipped({"words.npy": as_npy(WORD_ARRAY), "vectors.npy": as_npy(EXPECTED)}))
    for mark, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):  # the flags of a member, here and in the directory
        start = -1
        while (start := content.find(mark, start + 1)) >= 0:
            content[start + at] |= 1
    with pytest.raises(InputError, match="encrypted"):
        read_vectors(write(tmp_path / "a.npz", bytes(content)))


def test_a_nul_does_not_make_a_text_binary(tmp_path: Path) -> None:
    found = read_vectors(write(tmp_path / "a.vec", b"2 2\na\0b 1 2\nc 3 4\n"))
    assert found.words == ("a\0b", "c")
    found = read_warned(write(tmp_path / "b.vec", b"2 2\nnew york\0 1 2\nc 3 4\n"), "word with spaces")
    assert found.words == ("new york\0", "c")


def test_many_blank_lines_first(tmp_path: Path) -> None:
    assert read_vectors(write(tmp_path / "a.vec", b"\n" * 300 + PLAIN.encode())).words == WORDS
    assert read_vectors(write(tmp_path / "b.vec", b"2 3\n" + b"\n" * 300 + PLAIN.encode())).words == WORDS


def test_safetensors_of_any_name(tmp_path: Path) -> None:
    write_vectors(tmp_path / "a.safetensors", WORDS, EXPECTED)
    assert read_vectors((tmp_path / "a.safetensors").rename(tmp_path / "a")).words == WORDS


def test_standard_input_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with write(tmp_path / "a", b"just\nwords\n").open("rb") as stream:
        monkeypatch.setattr("invarot.files.find_descriptor", lambda *_: stream.fileno())
        with pytest.raises(InputError, match=r"^standard input: expected a word and its numbers"):
            read_vectors("-")
