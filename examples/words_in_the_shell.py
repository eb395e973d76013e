"""
Words in the shell
==================

The same from the command line: ``align`` learns, ``translate`` looks up, ``export`` and ``evaluate`` go on from there.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from matplotlib import pyplot as plt

from invarot.words import load_core_pair, write_vectors

folder = Path(tempfile.mkdtemp())
english, spanish, gold = load_core_pair()
for name, side in (("en.vec", english), ("es.vec", spanish)):
    write_vectors(folder / name, side.words[:1500], side.vectors[:1500])
(folder / "gold.txt").write_text("".join(f"{a} {b}\n" for a, b in gold), encoding="utf-8")


def invarot(*arguments):
    """Run a command and print what it says."""
    print("$ invarot", *arguments)
    done = subprocess.run(
        [sys.executable, "-m", "invarot", *arguments], cwd=folder, capture_output=True, text=True, check=False
    )
    print(done.stdout + done.stderr, f"exit code {done.returncode}", sep="")
    return done.stdout


invarot("align", "en.vec", "es.vec", "-o", "en-es", "--preset", "fast", "--quiet")
invarot("translate", "en-es", "house", "Water", "-k", "3")
invarot("export", "en-es", "-o", "en-es.txt", "--words", "1000")
told = invarot("evaluate", "en-es", "--dictionary", "gold.txt")

# What `evaluate` printed, as a picture.
scores = dict(line.split() for line in told.splitlines())
plt.figure(figsize=(5, 3), layout="constrained")
names = ["precision@1", "precision@5", "precision@10", "coverage"]
plt.barh(names, [float(scores[name]) for name in names], color="#1f6f8b")
plt.xlim(0, 1)
