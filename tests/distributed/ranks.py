"""Processes that form a gloo group and run one function: what every rank returns comes back through files."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LIMIT = 240  # seconds


def run_ranks(count, name, *arguments, lost=()):
    """Run ``name`` of tests/distributed/tasks.py on ``count`` ranks; return what each returned and its exit code.

    A rank in ``lost`` may end without a result.
    """
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
        processes = [
            subprocess.Popen(
                [sys.executable, "-m", "tests.distributed.ranks", folder, str(rank), str(count), name, *arguments],
                cwd=ROOT, env=environment,
            )
            for rank in range(count)
        ]  # fmt: skip
        ends = time.monotonic() + LIMIT
        codes = [process.wait(max(1.0, ends - time.monotonic())) for process in processes]
        found = []
        for rank in range(count):
            file = Path(folder) / f"{rank}.pickle"
            if rank not in lost:
                assert file.exists(), f"rank {rank} ended with {codes[rank]}"
            found.append(pickle.loads(file.read_bytes()) if file.exists() else None)
        return found, codes


def main() -> None:
    folder, rank, count, name, *arguments = sys.argv[1:]
    import torch.distributed as dist

    from tests.distributed import tasks

    dist.init_process_group("gloo", init_method=f"file://{folder}/meet", rank=int(rank), world_size=int(count))
    found = getattr(tasks, name)(*arguments)
    part = Path(folder) / f"{rank}.part"
    part.write_bytes(pickle.dumps(found))
    part.rename(Path(folder) / f"{rank}.pickle")


if __name__ == "__main__":
    main()
