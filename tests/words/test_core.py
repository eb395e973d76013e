"""The pair that ships with the package."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from invarot.words import Gold, Preprocessing, Vectors, load_core_pair, read_vectors
from invarot.words.core import decode_vectors, encode_rows


@pytest.fixture(scope="module")
def pair() -> tuple[Vectors, Vectors, list[tuple[str, str]]]:
    return load_core_pair()


def test_sizes(pair: tuple[Vectors, Vectors, list[tuple[str, str]]]) -> None:
    english, spanish, gold = pair
    for side in (english, spanish):
        assert len(set(side.words)) == len(side) == 5000
        assert side.vectors.shape == (5000, 100)
        assert side.vectors.dtype == np.float32
        assert np.isfinite(side.vectors).all()
        assert np.linalg.norm(side.vectors, axis=1).min() > 0
    assert len({left for left, _ in gold}) >= 300
    assert len(set(gold)) == len(gold)
    folder = Path(str(files("invarot.data")))
    assert sum(p.stat().st_size for p in folder.iterdir() if p.is_file()) < 2_000_000
    assert "European Parliament" in (folder / "README.md").read_text(encoding="utf-8")


def test_gold_lies_in_both_vocabularies(pair: tuple[Vectors, Vectors, list[tuple[str, str]]]) -> None:
    english, spanish, pairs = pair
    gold = Gold.from_pairs(pairs, english.words, spanish.words)
    assert gold.coverage == 1.0
    assert len(gold.pairs()) == len(pairs)


def test_gold_fits_the_vectors(pair: tuple[Vectors, Vectors, list[tuple[str, str]]]) -> None:
    """An orthogonal map fitted on half of the list translates the other half: list and rows belong together."""
    english, spanish, pairs = pair
    x, y = (Preprocessing().fit_apply(side.vectors)[1] for side in (english, spanish))
    gold = Gold.from_pairs(pairs, english.words, spanish.words)
    train = [(row, right) for row, right in gold.pairs() if row % 2]
    test = {row: rights for row, rights in gold.targets.items() if not row % 2}
    left, right = (list(side) for side in zip(*train, strict=True))
    u, _, vt = np.linalg.svd(x[left].T @ y[right])
    best = (x[list(test)] @ (u @ vt) @ y.T).argmax(axis=1)
    assert np.mean([hit in rights for hit, rights in zip(best, test.values(), strict=True)]) > 0.5


def test_codes_are_close_to_the_vectors() -> None:
    x = np.random.default_rng(0).standard_normal((50, 100)).astype(np.float32)
    x[3] = 0
    back = decode_vectors(*encode_rows(x))
    assert back.dtype == np.float32
    assert np.abs(back - x).max() <= 0.5 * np.abs(x).max() / 31 * 1.001
    np.testing.assert_array_equal(back[3], 0)


def test_rows_are_those_they_were_cut_from(
    pair: tuple[Vectors, Vectors, list[tuple[str, str]]], data_dir: Path
) -> None:
    for side, name in zip(pair[:2], ("en", "es"), strict=True):
        whole = read_vectors(data_dir / "europarl100" / f"{name}.npz", max_words=5000)
        assert side.words == whole.words
        cosine = (side.vectors * whole.vectors).sum(axis=1) / (
            np.linalg.norm(side.vectors, axis=1) * np.linalg.norm(whole.vectors, axis=1)
        )
        assert cosine.min() > 0.99


@pytest.mark.parametrize(("pair_name", "language", "count"), [("es-en", "es", 4774), ("zh-en", "zh", 3349)])
def test_published_text_files_read_as_they_come(pair_name: str, language: str, count: int, data_dir: Path) -> None:
    found = read_vectors(data_dir / "zhang2017" / pair_name / f"word2vec.{language}")
    assert found.vectors.shape == (count, 50)
    assert found.warnings == ()
