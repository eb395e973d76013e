"""A checklist of what a newcomer meets, each line a command and its outcome.

    python benchmarks/newcomer.py --out results/newcomer.md

Run it with the interpreter of a fresh environment, from a fresh clone:

    git clone REPOSITORY fresh && cd fresh && python -m venv .venv
    .venv/bin/pip install '.[report,sklearn,exact,cells]' torch==2.13.0
    .venv/bin/python benchmarks/newcomer.py --out results/newcomer.md
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from provenance import header, write_page

ROOT = Path(__file__).resolve().parents[1]
CLOUDS = (
    "import numpy as np, invarot; r=np.random.default_rng(0); x=r.gamma(2.0,size=(200,3)); "
    "t=np.linalg.qr(r.normal(size=(3,3)))[0]; f=invarot.align(x, x[::-1]@t); "
)

# What is promised, the command (P is the interpreter, I the command line), what its output has to match, its exit code.
CHECKS: tuple[tuple[str, str, str, int], ...] = (
    ("a first result", f'P -c "{CLOUDS}print(f.verdict.word)"', r"^aligned$", 0),
    ("result.plot()", f"P -c \"{CLOUDS}f.plot().savefig('a.png')\" && file a.png", "PNG image", 0),
    ("result.history.plot()", f"P -c \"{CLOUDS}f.history.plot().savefig('h.png')\" && file h.png", "PNG image", 0),
    ("_repr_html_", f'P -c "{CLOUDS}print(f._repr_html_()[:200])"', "Aligned", 0),
    ("result.report(page) for any alignment", f"P -c \"{CLOUDS}f.report('a.html')\" && grep -o '<section' a.html | wc -l", "^5$", 0),
    ("show_progress, log lines without a terminal", f'P -c "{CLOUDS}c=invarot.show_progress(); c.__enter__(); invarot.align(x, x@t)" 2>&1', r"\[0 s\] align: 200 × 200", 0),
    ("standard logging", f'P -c "import logging; logging.basicConfig(level=20); {CLOUDS}" 2>&1', "INFO:invarot", 0),
    ("repr of Vectors is one line", "P -c \"from invarot.words import load_core_pair as l; print(repr(l()[0]))\" | wc -lc", r"^ +1 +\d{2,3}$", 0),
    ("transform keeps dtype and gradient", f"P -c \"{CLOUDS}import torch; z=torch.tensor(x,requires_grad=True); w=f.transform(z.to(torch.bfloat16)); print(w.dtype,w.requires_grad)\"", "torch.bfloat16 True", 0),
    ("the same after save and load", f"P -c \"{CLOUDS}f.save('m1'); import torch; g=invarot.load('m1'); print(g.transform(torch.ones(1,3,dtype=torch.float16)).dtype)\"", "torch.float16", 0),
    ("result.to(device)", f"P -c \"{CLOUDS}print(type(f.to('cpu').map), type(f.to('cpu').to('numpy').map))\"", "Tensor.*ndarray", 0),
    ("bfloat16 in", f"P -c \"{CLOUDS}import torch; print(invarot.align(torch.tensor(x).bfloat16(), torch.tensor(x@t).bfloat16()).map.dtype)\"", "float32", 0),
    ("JAX arrays get a message", f"P -c \"{CLOUDS}J=type('ArrayImpl',(),dict(__module__='jaxlib.xla',shape=(2,2))); invarot.align(J(),x)\" 2>&1", r"pass np.asarray\(x\)", 1),
    ("AnnData gets a message", f"P -c \"{CLOUDS}import anndata; invarot.align(anndata.AnnData(x),x)\" 2>&1", r"pass an embedding, x.obsm", 1),
    ("object arrays of floats", f'P -c "{CLOUDS}print(invarot.align(x.astype(object), x@t).verdict.word)"', "aligned", 0),
    ("a transposed pair is asked about", f'P -c "{CLOUDS}print(invarot.align(x[:20].T, x[:30].T).verdict)"', r"pass x\.T and y\.T", 0),
    ("invarot alone prints help, exit 0", "I", r"\[OPTIONS\] COMMAND", 0),
    ("--help without <bool>", "! I align --help | grep -i bool", "^$", 0),
    ("--preset completes", "_INVAROT_COMPLETE=complete_bash COMP_WORDS='invarot align --preset ' COMP_CWORD=3 I", "best\nfast\npaper", 0),
    ("two files of vectors", "P -c \"from invarot.words import *; e,s,g=load_core_pair(); write_vectors('en.vec',e.words[:1500],e.vectors[:1500]); write_vectors('es.vec',s.words[:1500],s.vectors[:1500]); open('gold.txt','w').write(''.join(f'{a} {b}\\n' for a,b in g))\"", "", 0),
    ("align --seeds FILE", "head -20 gold.txt > seeds.txt; I align en.vec es.vec -o m --preset fast --seeds seeds.txt --report m.html 2>&1", "verdict: aligned", 0),
    ("existing output is kept", "I align en.vec es.vec -o m --preset fast 2>&1", "--force", 2),
    ("case fallback, said so", "I translate m Water -k 1 2>&1", r"Water: not in the vocabulary, water is", 0),
    ("evaluate reads what export writes", "I export m -o d.txt 2>/dev/null; I evaluate m --dictionary d.txt", r"precision@1 +1\.0000", 0),
    ("-o m.npz makes m.npz", "I export m -o m.npz && ls m.npz", "m.npz", 0),
    ("translate warns on a model that is not aligned", "head -101 en.vec | sed 's/^1500/100/' > a.vec; tail -100 es.vec | sed '1i 100 100' > b.vec; I align a.vec b.vec -o bad --preset fast -q; I translate bad the -k 1 2>&1", "warning: the verdict of this model is", 0),
    ("a resumed run says so", "I align en.vec es.vec -o r --preset fast --checkpoint c -q; I align en.vec es.vec -o r --preset fast --checkpoint c --force 2>&1", "resumed from the checkpoint", 0),
    ("messages name options", "I align en.vec es.vec -o q --device gpu 2>&1", "--device: expected", 2),
    ("register keeps what is there", "P -c \"import numpy as n; n.save('x.npy', n.random.default_rng(0).gamma(2.0,size=(300,3)))\"; I register x.npy x.npy -o y.npy -q; I register x.npy x.npy -o y.npy 2>&1", "--force", 2),
    ("migrate takes --force", "I migrate --help", "--force", 0),
    ("MissingExtra names what to install", "P -c \"from invarot.errors import MissingExtra; print(MissingExtra('a picture','report'))\"", r"pip install 'matplotlib>=", 0),
    ("bench checks its rivals first", "cd ROOT && P -m benchmarks.speed 2>&1", "install them first|wrote", 2),
    ("the extra all", "grep -c '^all = ' ROOT/pyproject.toml", "1", 0),
    ("README has at most 120 lines", "test $(wc -l < ROOT/README.md) -le 120 && wc -l < ROOT/README.md", r"\d+", 0),
)  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=ROOT / "results" / "newcomer.md")
    args = parser.parse_args()
    rows, wrong = [], 0
    with tempfile.TemporaryDirectory() as folder:
        for promise, command, pattern, code in CHECKS:
            good, output = run(command, pattern, code, folder)
            wrong += not good
            print("ok  " if good else "FAIL", promise, "" if good else output[-500:], flush=True)
            shown = command.replace("|", "\\|").replace("\n", " ")
            rows.append(f"| {promise} | `{shown}` | {'yes' if good else '**no**'} |")
    commit = subprocess.run(
        ["git", "rev-parse", "--short=7", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    made = header("python benchmarks/newcomer.py --out results/newcomer.md")
    made = [re.sub(r"at commit [^,]*", f"at commit {commit.stdout.strip()}", line) for line in made]  # of the clone
    lines = [
        "# What a newcomer meets", "", *made,
        f"{len(CHECKS) - wrong} of {len(CHECKS)} hold. `P` is the interpreter of a fresh environment, `I` is `invarot` there, `ROOT` the clone.",
        "", "| what is promised | command | holds |", "|---|---|---|", *rows,
    ]  # fmt: skip
    write_page(args.out, lines)
    return 1 if wrong else 0


def run(command: str, pattern: str, code: int, folder: str) -> tuple[bool, str]:
    """Run a command in ``folder``; it holds if output and exit code are as expected."""
    interpreter = sys.executable
    entry = Path(interpreter).with_name("invarot")
    script = re.sub(r"\bP (?=-)", f"{interpreter} ", command)
    script = re.sub(r"(^|[;|!=\s&])I(?=\s|$)", rf"\g<1>{entry}", script).replace("ROOT", str(ROOT))
    done = subprocess.run(
        ["bash", "-c", script], cwd=folder, capture_output=True, text=True, check=False, timeout=300,
        env={**os.environ, "MPLBACKEND": "agg", "NO_COLOR": "1"},
    )  # fmt: skip
    good = done.returncode == code and re.search(pattern, done.stdout, re.MULTILINE) is not None
    return good, done.stdout + done.stderr


if __name__ == "__main__":
    raise SystemExit(main())
