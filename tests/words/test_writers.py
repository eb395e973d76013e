"""Writing word vectors: round trips, other programs, and files that appear whole or not at all."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from invarot.errors import InputError
from invarot.words import read_vectors, write_vectors, writers

RNG = np.random.default_rng(3)
TABLE = (RNG.standard_normal((40, 9)) * 10.0 ** RNG.integers(-6, 6, (40, 9))).astype(np.float32)
WORDS = [*(f"word{i}" for i in range(37)), "año", "日本", "10\u00a0000"]
NAMES = ["a.vec", "a.txt", "a.vec.gz", "a.bin", "a.npz", "a.npy", "a.safetensors"]


@pytest.mark.parametrize("name", NAMES)
def test_round_trip_is_exact(tmp_path: Path, name: str) -> None:
    assert write_vectors(tmp_path / name, WORDS, TABLE) == tmp_path / name
    found = read_vectors(tmp_path / name)
    assert found.words == tuple(WORDS)
    np.testing.assert_array_equal(found.vectors, TABLE)
    assert found.warnings == ()
    assert not list(tmp_path.glob("*.part"))
    assert not list(tmp_path.glob(".*"))


def test_glove_has_no_header_and_digits_shorten(tmp_path: Path) -> None:
    path = write_vectors(tmp_path / "a.txt", ["a", "b"], np.array([[1 / 3, 2], [0.5, -1]]), format="glove", digits=3)
    assert path.read_text() == "a 0.333 2\nb 0.5 -1\n"
    assert read_vectors(path).words == ("a", "b")


@pytest.mark.parametrize("name", ["a.npz", "a.npy", "a.safetensors"])
def test_words_with_spaces_round_trip_where_they_can(tmp_path: Path, name: str) -> None:
    words = ["new york", " lead", "\ttab", ""]
    write_vectors(tmp_path / name, words, TABLE[:4])
    assert read_vectors(tmp_path / name).words == tuple(words)


@pytest.mark.parametrize("name", NAMES)
def test_same_content_same_bytes(tmp_path: Path, name: str) -> None:
    first = write_vectors(tmp_path / name, WORDS, TABLE).read_bytes()
    assert write_vectors(tmp_path / name, WORDS, TABLE).read_bytes() == first


@pytest.mark.parametrize("binary", [False, True])
def test_gensim_reads_what_is_written(tmp_path: Path, binary: bool) -> None:
    keyed_vectors = pytest.importorskip("gensim.models").KeyedVectors
    path = write_vectors(tmp_path / ("a.bin" if binary else "a.vec"), WORDS[:-1], TABLE[:-1])
    found = keyed_vectors.load_word2vec_format(str(path), binary=binary)
    assert found.index_to_key == WORDS[:-1]
    np.testing.assert_array_equal(found.vectors, TABLE[:-1])


@pytest.mark.parametrize("binary", [False, True])
def test_what_gensim_writes_is_read(tmp_path: Path, binary: bool) -> None:
    keyed_vectors = pytest.importorskip("gensim.models").KeyedVectors
    keyed = keyed_vectors(9)
    keyed.add_vectors(WORDS[:-1], TABLE[:-1])
    assert read_vectors(keyed).words == tuple(WORDS[:-1])
    keyed.save_word2vec_format(str(tmp_path / "a"), binary=binary)
    found = read_vectors(tmp_path / "a")
    assert found.words == tuple(WORDS[:-1])
    np.testing.assert_array_equal(found.vectors, TABLE[:-1])


def test_surrogates_bring_bad_bytes_back(tmp_path: Path) -> None:
    word = b"caf\xe9".decode("utf-8", "surrogateescape")
    path = write_vectors(tmp_path / "a.vec", [word], TABLE[:1])
    assert b"caf\xe9 " in path.read_bytes()


def test_torch_rows_are_written(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    write_vectors(tmp_path / "a.npz", WORDS, torch.asarray(TABLE))
    np.testing.assert_array_equal(read_vectors(tmp_path / "a.npz").vectors, TABLE)


@pytest.mark.parametrize("name", NAMES)
def test_a_failure_leaves_the_old_file(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_vectors(tmp_path / name, WORDS, TABLE)
    before = {p.name: p.read_bytes() for p in tmp_path.iterdir()}

    def interrupted(stream: object, *rest: object) -> None:
        stream.write(b"half")  # type: ignore[attr-defined]
        raise KeyboardInterrupt

    kind = writers.SUFFIXES[".vec" if name.endswith(".gz") else path.suffix]
    monkeypatch.setitem(writers._WRITERS, kind, interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_vectors(path, WORDS, TABLE)
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == before


@pytest.mark.parametrize(
    ("name", "words", "table", "options", "match"),
    [
        ("a.vec", ["a b", "c"], TABLE[:2], {}, "expected words without blanks for vec, got 'a b' in row 0"),
        ("a.bin", ["a", "c\n"], TABLE[:2], {}, "words without blanks for bin, got .* in row 1"),
        ("a.vec", ["", "c"], TABLE[:2], {}, "without blanks"),
        ("a.npy", ["a\nb", "c"], TABLE[:2], {}, "line breaks"),
        ("a.npz", ["a\0", "c"], TABLE[:2], {}, "NUL"),
        ("a.npz", ["a", "a"], TABLE[:2], {}, "got 'a' again in row 1"),
        ("a.npz", ["a", 3], TABLE[:2], {}, "got int in row 1"),
        ("a.npz", ["a"], TABLE[:2], {}, "one row per word"),
        ("a.npz", [], TABLE[:0], {}, "one row per word"),
        ("a.npz", ["a", "b"], [["x"], ["y"]], {}, "expected numbers"),
        ("a.npz", ["a", "b"], [[1.0], [np.nan]], {}, r"row 1 \('b'\)"),
        ("a.npz", ["a", "b"], [[1.0], [1e300]], {}, "finite float32"),
        ("a.dat", ["a", "b"], TABLE[:2], {}, "format: expected one of"),
        ("a.vec", ["a", "b"], TABLE[:2], {"format": "csv"}, "format: expected one of"),
        ("a.npz.gz", ["a", "b"], TABLE[:2], {}, "expected no gzip for npz"),
        ("a.vec", ["a", "b"], TABLE[:2], {"digits": 0}, "digits"),
        ("none/a.vec", ["a", "b"], TABLE[:2], {}, "existing directory"),
        (".", ["a", "b"], TABLE[:2], {"format": "vec"}, "existing directory"),
    ],
)
def test_bad_input(tmp_path: Path, name: str, words: list, table: object, options: dict, match: str) -> None:
    with pytest.raises(InputError, match=match):
        write_vectors(tmp_path / name, words, table, **options)
    assert not list(tmp_path.iterdir())
