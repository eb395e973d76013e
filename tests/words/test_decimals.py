"""Parsing many numbers at once: exactly what Python reads, or nothing."""

from __future__ import annotations

import numpy as np
import pytest

from invarot.words.decimals import parse_any, parse_plain, parse_rows

RNG = np.random.default_rng(11)


@pytest.mark.parametrize("style", ["%.1f", "%.4f", "%.6f", "%.8f", "%.9f", "%.12f", "%.14f"])
@pytest.mark.parametrize("scale", [0.01, 1.0, 40.0])
def test_plain_decimals_are_exact(style: str, scale: float) -> None:
    texts = [style % value for value in scale * RNG.standard_normal(3000)] + ["0." + "0" * 5, "-0.0", "9.9"]
    found = parse_plain(" ".join(texts).encode(), len(texts))
    if max(len(text.replace(".", "").replace("-", "")) for text in texts) > 15:
        assert found is None  # more digits than float64 holds exactly: left to the other parser
        found = parse_any(" ".join(texts).encode(), len(texts))
    assert found is not None
    np.testing.assert_array_equal(found, np.array([float(text) for text in texts]).astype(np.float32))


def test_mixed_lengths_are_exact() -> None:
    texts = [
        f"{sign}{whole}.{part:0{width}d}"
        for sign in ("", "-")
        for whole in (0, 7, 12, 123456)
        for width in range(1, 10)
        for part in (0, 1, 10**width - 1)
    ]
    found = parse_plain(" ".join(texts).encode(), len(texts))
    assert found is not None
    np.testing.assert_array_equal(found, np.array([float(text) for text in texts]).astype(np.float32))
    assert np.signbit(parse_plain(b"-0.0", 1)).all()  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "text",
    ["1", "1.", ".5", "-.5", "--1.0", "1-.0", "1.0-", "+1.0", "1.0e5", "nan", "1,0", "1.2.3", "x.y", "", "123456789.0",
     "0.1234567890123456"],
)  # fmt: skip
def test_other_notations_are_refused(text: str) -> None:
    assert parse_plain(text.encode(), 1) is None
    assert parse_plain(f"1.0 {text} 2.0".encode(), 3) is None


def test_two_points_in_one_field_and_none_in_the_next() -> None:
    assert parse_plain(b"1.2.3 4 5.6", 3) is None
    assert parse_plain(b"1.5 22 3.4.5", 3) is None


def test_rows_of_any_notation_keep_their_order() -> None:
    rows = [b"0.5 -1.25", b"1e-3 2", b"7.0 8.5", b"3 4.5", b"-2.5e+01 .5"]
    expected = np.array([[0.5, -1.25], [1e-3, 2], [7, 8.5], [3, 4.5], [-25, 0.5]], np.float32)
    found = parse_rows(rows, 2)
    assert found is not None
    np.testing.assert_array_equal(found, expected)
    assert parse_rows([*rows, b"1.0 x"], 2) is None
    assert parse_rows([*rows, b"1.0 2.x"], 2) is None
    assert parse_rows([], 2).shape == (0, 2)  # type: ignore[union-attr]


def test_any_counts() -> None:
    assert parse_any(b"1 2 3", 2) is None
    assert parse_any(b"1 2 abc", 3) is None
    np.testing.assert_array_equal(parse_any(b"1 inf -2e3", 3), [1, np.inf, -2000])
