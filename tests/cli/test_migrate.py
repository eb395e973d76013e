"""``invarot migrate``, as a person would type it."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import invarot.migration as migration
import invarot.stores as stores
from invarot.cli import migrate  # noqa: F401 -- registers the command
from invarot.cli.app import app
from invarot.errors import InputError

from ..commands import make_runner

RNG = np.random.default_rng(0)
TOPICS = RNG.gamma(0.5, size=(60, 6))
TEXTS = (TOPICS[RNG.integers(60, size=1200)] + 0.03 * RNG.normal(size=(1200, 6))).astype(np.float32)
TURN = np.linalg.qr(RNG.normal(size=(8, 8)))[0][:6].astype(np.float32)


@pytest.fixture
def folder(tmp_path):
    ids = np.array([f"t{k}" for k in range(600)])
    np.savez(tmp_path / "old.npz", vectors=TEXTS[:600], ids=ids)
    np.save(tmp_path / "new.npy", TEXTS[600:] @ TURN)
    np.savez(tmp_path / "noise.npz", vectors=RNG.normal(size=(600, 7)), ids=ids)
    np.savez(tmp_path / "same.npz", vectors=TEXTS[:600] @ TURN, ids=ids)
    return tmp_path


def run(folder, *words: str):
    """The command in this process; errors are raised, as ``main`` would print them."""
    parts = [str(folder / word) if word.endswith((".npz", ".npy", ".safetensors")) else word for word in words]
    done = make_runner().invoke(app, ["migrate", *parts])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done


def listing(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_dry_run_says_everything_and_writes_nothing(folder):
    before = listing(folder)
    done = run(folder, "old.npz", "new.npy", "--map-store", "mapped.npz", "--dry-run")
    assert done.exit_code == 0
    for part in (
        "verdict: aligned",
        "recall@10",
        "estimated without pairs",
        "half is a good figure",
        "about 0 s",
        "MB",
    ):
        assert part in done.stderr
    assert listing(folder) == before


def test_map_store_and_map_queries(folder):
    done = run(folder, "old.npz", "new.npy", "--map-store", "mapped.npz", "--map-queries", "q.safetensors", "--json")
    assert done.exit_code == 0
    said = json.loads(done.stdout)
    assert (said["rows"], said["written"], said["verdict"]["word"]) == (600, True, "aligned")
    (batch,) = stores.open(folder / "mapped.npz").read(1000)
    assert batch.ids == [f"t{k}" for k in range(600)]
    queries = TEXTS[600:610] @ TURN
    scope: dict = {"query": queries}
    exec(said["snippet"], scope)  # three lines that a user would paste
    back = migration.load(folder / "q.safetensors").map
    assert back.shape == (8, 6)
    mapped = TEXTS[:600] @ back.T  # what --map-store writes, before each row gets its own length
    lengths = np.linalg.norm(TEXTS[:600], axis=1) / np.linalg.norm(mapped, axis=1)
    np.testing.assert_allclose(mapped * lengths[:, None], batch.vectors, atol=1e-5)
    scores = [
        one / np.linalg.norm(one, axis=1, keepdims=True) for one in (scope["query"] @ TEXTS[:600].T, queries @ mapped.T)
    ]
    np.testing.assert_allclose(*scores, atol=1e-4)
    with pytest.raises(InputError, match=r"--map-store: expected a new store, got .*which exists"):
        run(folder, "old.npz", "new.npy", "--map-store", "mapped.npz")
    with pytest.raises(InputError, match="--map-queries: expected a new file"):
        run(folder, "old.npz", "new.npy", "--map-queries", "q.safetensors")
    assert run(folder, "old.npz", "new.npy", "--map-store", "mapped.npz", "--force", "-q").exit_code == 0


def test_nothing_is_written_without_the_verdict(folder):
    before = listing(folder)
    words = ("noise.npz", "new.npy", "--map-store", "mapped.npz", "--map-queries", "q.safetensors", "--effort", "quick")
    done = run(folder, *words)
    assert done.exit_code == 3
    assert "nothing was written: the verdict is" in done.stderr
    assert listing(folder) == before


def test_measured_recall_decides_where_it_is_asked_to(folder):
    (folder / "few.txt").write_text("".join(f"t{k} t{k}\n" for k in range(0, 600, 5)))
    pairs = ("old.npz", "same.npz", "--check-pairs", str(folder / "few.txt"), "--map-store", "mapped.npz")
    equal = run(folder, "old.npz", "same.npz", "--pairs", "ids", "--check-pairs", "ids", "--dry-run")
    assert "measured on 150 pairs" in equal.stderr
    low = run(folder, *pairs, "--at-least", "1.0", "--json")
    value = json.loads(low.stdout)["recall"]
    assert value["measured"]
    assert low.exit_code == (0 if value["value"] >= 1 else 3)
    done = run(folder, *pairs, "--at-least", "0.3", "--replace")
    assert done.exit_code == 0
    assert "measured on 120 pairs" in done.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["old.npz", "new.npy"], "expected --map-store, --map-queries or --dry-run, got none"),
        (["old.npz", "new.npy", "--dry-run", "--at-least", "0.5"], "--at-least: expected together with --check-pairs"),
        (["old.npz", "new.npy", "--map-store", "old.npz"], "expected another store than the sources"),
        (["gone.npz", "new.npy", "--dry-run"], "expected a file, got nothing there"),
        (["old.npz", "new.npy", "--map-queries", "q.npz"], "--map-queries: expected a name that ends in .safetensors"),
        (["old.npz", "old.npz", "--dry-run"], "the same model on both sides: nothing to do"),
    ],
)
def test_bad_input(folder, words, message):
    with pytest.raises(InputError, match=message):
        run(folder, *words)


SLOW = """
import sys, time
import invarot.migration.copying as copying
from invarot.cli import main
inner = copying.Adapter.apply
def apply(self, vectors):
    time.sleep(0.05)  # so that a kill falls between two batches, or into one
    return inner(self, vectors)
copying.Adapter.apply = apply
copying.BATCH_ROWS = 16
copying.map_store.__kwdefaults__["size"] = 16
sys.argv = ["invarot", "migrate", *sys.argv[1:]]
main()
"""


def test_kill_minus_nine_and_go_on(folder):
    source = folder / "old.npz"
    before = hashlib.sha256(source.read_bytes()).hexdigest()
    words = [str(source), str(folder / "new.npy"), "--map-store", str(folder / "mapped.npz"), "-q"]
    process = subprocess.Popen([sys.executable, "-c", SLOW, *words], env={**os.environ, "OMP_NUM_THREADS": "1"})
    spool = folder / "mapped.npz.part" / "vectors.f4"
    until = time.monotonic() + 60
    while time.monotonic() < until and (not spool.exists() or spool.stat().st_size < 2000):
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    assert not (folder / "mapped.npz").exists()
    done = run(folder, "old.npz", "new.npy", "--map-store", "mapped.npz", "--map-queries", "queries.safetensors")
    assert "going on with an unfinished copy" in done.stderr
    (batch,) = stores.open(folder / "mapped.npz").read(1000)
    assert batch.ids == [f"t{k}" for k in range(600)]
    kept = migration.load(folder / "mapped.npz.adapter.safetensors")
    np.testing.assert_allclose(batch.vectors, kept.apply(TEXTS[:600]), rtol=1e-6)
    back = migration.load(folder / "queries.safetensors")  # asked for only when the copy went on
    np.testing.assert_array_equal(back.map, kept.inverse().map)
    assert hashlib.sha256(source.read_bytes()).hexdigest() == before


def test_an_unfinished_copy_goes_on_with_its_own_options_only(folder, monkeypatch):
    (folder / "few.txt").write_text("".join(f"t{k} t{k}\n" for k in range(0, 600, 5)))
    few = ("old.npz", "same.npz", "--map-store", "mapped.npz", "--pairs", str(folder / "few.txt"), "--effort", "quick")

    def stop(self, vectors):
        raise KeyboardInterrupt

    def break_off(*words):
        with monkeypatch.context() as patch:
            patch.setattr(migration.Adapter, "apply", stop)
            assert make_runner().invoke(app, ["migrate", *words]).exit_code != 0

    full = [str(folder / word) if word.endswith((".npz", ".npy")) else word for word in few]
    break_off(*full)
    for words, message in [
        (("--pairs", "ids"), r"--pairs: expected what the unfinished copy .* was begun with, got ids; it was begun with few.txt"),
        (("--check-pairs", "ids"), "--check-pairs: .* begun without it: leave --check-pairs out to go on, or start again"),
        (("--sample", "500"), "--sample: .* got 500; it was begun with 8000"),
        (("--seed", "3"), "--seed: "),
    ]:  # fmt: skip
        with pytest.raises(InputError, match=message):
            run(folder, *few[:4], *words)
    done = run(folder, *few)
    assert "going on with an unfinished copy" in done.stderr
    assert "begun with --pairs few.txt (sha256 " in done.stderr

    break_off(*full, "--force")  # beside the complete one
    (folder / "few.txt").write_text("t1 t1\nt2 t2\n")
    done = run(folder, *few, "--force")  # other pairs, in a file of the same name: it begins again
    assert "going on" not in done.stderr
    assert migration.load(folder / "mapped.npz.adapter.safetensors").facts["pairs"] == 2
    assert not [name for name in listing(folder) if "part" in name or "replac" in name]
