"""A real server that goes away in the middle of a copy: tried again, then stopped so that it can be resumed."""

from __future__ import annotations

import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from invarot import migration, stores

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
CHROMA = shutil.which("chroma", path=str(Path(sys.executable).parent))


def serve(folder: Path, port: int) -> subprocess.Popen[bytes]:
    command = [str(CHROMA), "run", "--path", str(folder), "--port", str(port), "--host", "127.0.0.1"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    until = time.monotonic() + 60
    while time.monotonic() < until:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return process
        except OSError:
            time.sleep(0.1)
    process.kill()
    pytest.skip("the Chroma server did not start within a minute")


def test_a_server_that_goes_away(tmp_path, monkeypatch):
    if CHROMA is None:
        pytest.skip("chromadb is not installed: pip install 'invarot[stores]'")
    monkeypatch.setattr("invarot.stores.protocol.FIRST_PAUSE", 0.01)
    monkeypatch.chdir(tmp_path)  # the journal of a server lies in the working folder
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    ids = [f"t{k}" for k in range(100)]
    np.savez("old.npz", vectors=np.random.default_rng(0).normal(size=(100, 4)), ids=np.array(ids))
    old, sample, new = (stores.open(one) for one in ("old.npz", "old.npz", f"chroma:http://127.0.0.1:{port}#new"))
    adapter = migration.Adapter(np.eye(4, dtype=np.float32), {"sample": "old.npz"})
    server = serve(tmp_path / "server", port)

    def pull_the_plug(rows: int) -> None:
        if rows == 40:
            server.send_signal(signal.SIGKILL)
            server.wait()

    with pytest.raises(stores.StoreUnavailable, match="run the same command again: it resumes where it stopped"):
        migration.map_store(old, new, adapter, size=20, on_rows=pull_the_plug)
    server = serve(tmp_path / "server", port)
    try:
        seen: list[int] = []
        unfinished = migration.find_unfinished(old, sample, new)
        assert migration.map_store(old, new, unfinished, on_rows=seen.append) == 100
        assert seen == [60, 80, 100]
        assert sorted(id for batch in new.read(1000) for id in batch.ids) == sorted(ids)
    finally:
        server.kill()
        server.wait()
