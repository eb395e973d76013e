"""Files of vectors that are damaged, forged or no such files at all."""

from __future__ import annotations

import gzip
import io
import json
import struct
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from random import Random

import numpy as np
from safetensors.numpy import save

from invarot.clouds import read_cloud
from invarot.errors import InputError
from invarot.words import read_dictionary, read_vectors

WORDS = ("a", "house", "año", "new york", "猫", "x" * 40, "", "0.5", "-", "nan")
TOKENS = (
    b"\n", b"\r\n", b" ", b"\t", b"\0", b"\xff", b"\xef\xbb\xbf", b"1e999", b"-nan", b"1_0", b"0x1p3", b"9" * 5000, b"1000000 1048576\n",
    b"4294967296 4\n", b"0 0\n", b"-1 3\n", b"[" * 3000, b'{"a":' * 2000, b"'" * 50, b"(" * 300, b"PK\x03\x04", b"\x1f\x8b\x08\x00", b"\x93NUMPY",
    b"\n" * 300, b" " * 20_000, b"1 " * 5000, b"\x80\x04", b"(1000000, 1000000)", b"(9999999999999999999,)", b"(-1, 2)", b"'|O'", b"'<U0'", b"'V0'",
    b"'<U99999999'", b"\x00\x00\x00\x80", b"\xff\xff\xff\x7f",
)  # fmt: skip
SUFFIXES = (".vec", ".txt", ".gz", ".bin", ".npz", ".npy", ".safetensors", "")


def make_rows(rng: Random) -> tuple[list[str], np.ndarray]:
    n, d = rng.randint(1, 6), rng.choice((1, 1, 2, 3, 5, 40))
    words = [rng.choice(WORDS) + str(i) * rng.randint(0, 1) for i in range(n)]
    values = [rng.choice((0.0, 1.0, -0.25, 3e-5, 1e30, rng.random())) for _ in range(n * d)]
    return words, np.array(values, rng.choice(("f4", "f8"))).reshape(n, d)


def make_text(rng: Random) -> bytes:
    words, table = make_rows(rng)
    head = f"{len(words)} {table.shape[1]}\n" if rng.random() < 0.6 else ""
    rows = "".join(f"{word} {' '.join(map(str, row))}\n" for word, row in zip(words, table.tolist(), strict=True))
    return (head + rows).encode()


def make_gzip(rng: Random) -> bytes:
    if rng.random() < 0.02:  # small, and very much larger when it is unpacked
        return gzip.compress(rng.choice((b"\n", b"a 1 2\n", b"\0", b"1")) * (1 << rng.randint(20, 24)))
    return gzip.compress(rng.choice((make_text, make_binary))(rng), 1)


def make_binary(rng: Random) -> bytes:
    words, table = make_rows(rng)
    rows = (word.encode() + b" " + row.astype("<f4").tobytes() for word, row in zip(words, table, strict=True))
    count, width = rng.choice((table.shape, table.shape, (10**9, table.shape[1]), (1_000_000, 1 << 20)))
    return b"%d %d\n" % (count, width) + rng.choice((b"", b"\n")).join(rows)


def make_npy(array: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=False)
    return stream.getvalue()


def make_npz(rng: Random) -> bytes:
    words, table = make_rows(rng)
    stream = io.BytesIO()
    method = rng.choice(
        (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)
    )
    with zipfile.ZipFile(stream, "w", method) as archive:
        for name, array in (
            ("words", np.array(words, dtype=rng.choice((str, str, "S")) if _is_ascii(words) else str)),
            ("vectors", table),
        ):
            content = make_npy(array)
            if rng.random() < 0.3:
                content = damage(rng, content)
            if rng.random() < 0.01:
                content = content[:10] + bytes(1 << 25)  # a bomb
            archive.writestr(f"{name}.npy", content)
    return stream.getvalue()


def _is_ascii(words: list[str]) -> bool:
    return all(word.isascii() for word in words)


def make_npy_file(rng: Random) -> bytes:
    return make_npy(make_rows(rng)[1])


def make_safetensors(rng: Random) -> bytes:
    words, table = make_rows(rng)
    listed = rng.choice((json.dumps(words), json.dumps(words), "[" * 20_000, "{}", "[1]", "9" * 5000))
    content = save({rng.choice(("vectors", "table")): table}, metadata={"words": listed})
    if rng.random() < 0.1:
        content = struct.pack("<Q", rng.choice((0, 1, 8, 1 << 20, 1 << 40, (1 << 64) - 1))) + content[8:]
    return content


def make_noise(rng: Random) -> bytes:
    return rng.choice((rng.randbytes(rng.randint(0, 300)), b" ".join(rng.choices(TOKENS, k=rng.randint(1, 6)))))


MAKERS: tuple[Callable[[Random], bytes], ...] = (
    make_text, make_text, make_gzip, make_binary, make_npz, make_npz, make_npy_file, make_safetensors, make_noise,
)  # fmt: skip
OWN_SUFFIX = {
    make_gzip: ".gz",
    make_binary: ".bin",
    make_npz: ".npz",
    make_npy_file: ".npy",
    make_safetensors: ".safetensors",
}


def damage(rng: Random, content: bytes) -> bytes:
    """Return ``content`` with one to four things wrong."""
    for _ in range(rng.randint(1, 4)):
        at = rng.randint(0, len(content))
        kind = rng.random()
        if kind < 0.35:
            content = content[:at] + bytes([rng.randrange(256)]) + content[at + 1 :]
        elif kind < 0.5:
            content = content[:at]
        elif kind < 0.75:
            content = content[:at] + rng.choice(TOKENS) + content[at + rng.choice((0, 0, 1, 8)) :]
        elif kind < 0.85:
            end = rng.randint(at, len(content))
            content = content[:at] + content[at:end] * rng.randint(0, 3) + content[end:]
        else:
            number = struct.pack("<I", rng.choice((0, 1, 0x7FFFFFFF, 0xFFFFFFFF, rng.randrange(1 << 32))))
            content = content[:at] + number + content[at + 4 :]
    return content


def make_file(rng: Random) -> tuple[str, bytes]:
    """Return the name and the content of a file that may be anything."""
    maker = rng.choice(MAKERS)
    content = maker(rng)
    if rng.random() < 0.85:
        content = damage(rng, content)
    return "f" + (OWN_SUFFIX.get(maker, ".vec") if rng.random() < 0.7 else rng.choice(SUFFIXES)), content


def make_cloud_file(rng: Random) -> tuple[str, bytes]:
    """Return the name and the content of a file of points, mostly damaged."""
    n = rng.randint(2, 5)
    points = [[rng.choice((0.0, 1.5, -2e3, 1e30, rng.random())) for _ in range(3)] for _ in range(n)]
    lines = [" ".join(map(str, row)) for row in points]
    kind = rng.choice((".ply", ".ply", ".obj", ".xyz", ".csv", ".npy", ".xyz.gz"))
    if kind == ".ply":
        binary, count = rng.random() < 0.5, rng.choice((n, n, n, 0, 10**9, 2**63))
        head = f"ply\nformat {'binary_little_endian' if binary else 'ascii'} 1.0\nelement vertex {count}\n"
        head += "".join(f"property {rng.choice(('float', 'float', 'double', 'uchar'))} {axis}\n" for axis in "xyz")
        head += rng.choice(("", f"element face {rng.choice((0, 1, 10**9))}\nproperty list uchar int vertex_indices\n"))
        body = np.array(points, "<f4").tobytes() if binary else "\n".join(lines).encode()
        content = head.encode() + b"end_header\n" + body
    elif kind == ".obj":
        content = "\n".join(f"v {line}" for line in lines).encode() + b"\nf 1 2 3\n"
    elif kind == ".csv":
        content = b"x,y,z\n" + "\n".join(lines).replace(" ", ",").encode()
    elif kind == ".npy":
        content = make_npy(np.array(points))
    else:
        content = "\n".join(lines).encode()
    content = damage(rng, content) if rng.random() < 0.85 else content
    return "f" + kind, gzip.compress(content, 1) if kind.endswith(".gz") else content


def try_cloud(rng: Random, folder: Path) -> str:
    """Read one such file of points: "cloud read" or "cloud refused"; anything else raises."""
    name, content = make_cloud_file(rng)
    path = folder / name
    path.write_bytes(content)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = read_cloud(path)
    except InputError as error:
        if str(path) in str(error):
            return "cloud refused"
        raise AssertionError(f"the file is not named: {error}") from error
    assert found.points.ndim == 2
    assert found.points.shape[1] == 3
    assert len(found.points) > 0
    assert np.isfinite(found.points).all()
    return "cloud read"


def try_file(rng: Random, folder: Path) -> str:
    """Read one such file: "read" or "refused"; anything else raises. A fifth are files of points."""
    if rng.random() < 0.2:
        return try_cloud(rng, folder)
    name, content = make_file(rng)
    path = folder / name
    path.write_bytes(content)
    path.with_suffix(".vocab").write_bytes(b"".join(b"w%d\n" % i for i in range(rng.randint(1, 6))))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # other people's warnings are failures too,
            warnings.simplefilter("ignore", UserWarning)  # ours say what was dropped
            if rng.random() < 0.05:
                read_dictionary(path)
                return "read"
            options = {"encoding_errors": rng.choice(("replace", "ignore", "surrogateescape", "strict"))}
            if rng.random() < 0.1:
                options["format"] = rng.choice(("text", "bin", "npz", "npy", "safetensors"))
            found = read_vectors(path, max_words=rng.choice((None, None, 1, 3)), **options)
    except InputError as error:
        if str(path) in str(error) or "vocabulary" in str(error):
            return "refused"
        raise AssertionError(f"the file is not named: {error}") from error
    assert found.vectors.dtype == np.float32
    assert found.vectors.shape[0] == len(found.words) == len(set(found.words)) > 0
    assert found.vectors.shape[1] > 0
    assert np.isfinite(found.vectors).all()
    return "read"
