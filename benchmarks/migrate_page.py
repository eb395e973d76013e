"""The page and the figure of benchmarks/migrate.py, from its rows."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np

Rows = list[dict[str, str]]
STARTS = {"auto": "nothing known", "supervised": "started at the supervised map, an upper bound"}


def make_page(rows: Rows, out: Path) -> list[str]:
    """Return the lines of the page; the curve is drawn beside it."""
    lines = ["# Embedding models brought together with nothing paired", ""]
    for part, write in (
        ("seeds", seeds),
        ("store", store),
        ("retrieval", retrieval),
        ("curve", curve),
        ("baseline", baseline),
    ):
        of_part = [row for row in rows if row["part"] == part]
        if of_part:
            lines += [*write(of_part), ""]
    drawn = [row for row in rows if row["part"] == "curve"]
    if drawn:
        draw_curve(drawn, out / "migrate.png")
        lines += ["![top-1 over known pairs](migrate.png)", ""]
    return lines


def groups(rows: Rows, *names: str) -> list[tuple[tuple[str, ...], Rows]]:
    key = lambda row: tuple(row[name] for name in names)  # noqa: E731
    return [(group, list(cell)) for group, cell in itertools.groupby(sorted(rows, key=key), key=key)]


def mean(rows: Rows, name: str) -> float:
    return float(np.mean([float(row[name]) for row in rows]))


def seeds(rows: Rows) -> list[str]:
    lines = [
        "## Nothing known", "",
        "Top-1 in percent among 2,000 scoring texts, and the objective, beside a solve that starts at the supervised map.", "",
        "| pair | texts a side | seeds | top-1, least to most | from the supervised map | objective, least | from the supervised map | verdicts |",
        "|---|---|---|---|---|---|---|---|",
    ]  # fmt: skip
    for (pair, texts), cell in groups(rows, "pair", "texts"):
        ours, least = [float(row["ours"]) for row in cell], min(float(row["free"]) for row in cell)
        verdicts = ", ".join(sorted({row["verdict"] for row in cell}))
        lines.append(
            f"| {pair} | {texts} | {len(cell)} | {min(ours):.1f} to {max(ours):.1f} | {mean(cell, 'beside'):.1f} | {least:.4f} | "
            f"{mean(cell, 'checked'):.4f} | {verdicts} |"
        )
    return lines


def store(rows: Rows) -> list[str]:
    return [
        "## Recall@10 in the migrated store, fitted on all of it", "",
        "As `invarot migrate` does it: old vectors of all 16,000 texts are in the fit, of which half are in the new sample too; nothing "
        "says which. Otherwise as below.", "",
        *retrieval(rows)[4:],
    ]  # fmt: skip


def retrieval(rows: Rows) -> list[str]:
    lines = [
        "## Recall@10 in the migrated store, fitted on other texts", "",
        "16,000 old vectors in a LanceDB table, mapped; 2,000 queries of the new model, against its own exact search. *Supervised*: "
        "Procrustes from 16,000 pairs. Estimates of a dry run: from 500 pairs that the solve did not see, and without any.", "",
        "| pair | texts a side | start | seeds | recall@10 | supervised | share of it | estimate, 500 pairs | off by | estimate, no pairs | off by | verdicts | s |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]  # fmt: skip
    for (pair, texts, start), cell in groups(rows, "pair", "texts", "start"):
        ours, best, free, checked = (mean(cell, name) for name in ("ours", "beside", "free", "checked"))
        verdicts = ", ".join(sorted({row["verdict"] for row in cell}))
        lines.append(
            f"| {pair} | {texts} | {STARTS[start]} | {len(cell)} | {ours:.3f} | {best:.3f} | {ours / best:.3f} | {checked:.3f} | "
            f"{checked - ours:+.3f} | {free:.3f} | {free - ours:+.3f} | {verdicts} | {mean(cell, 'seconds'):.0f} |"
        )
    return lines


def curve(rows: Rows) -> list[str]:
    lines = [
        "## Known pairs", "",
        "Top-1 in percent among 2,000 scoring texts, with k known pairs in the solve; Procrustes from the same pairs below.", "",
    ]  # fmt: skip
    counts = sorted({int(row["k"]) for row in rows})
    lines += ["| pair | texts a side | start | | " + " | ".join(f"k = {k}" for k in counts) + " |", "|---" * (len(counts) + 4) + "|"]  # fmt: skip
    for (pair, texts, start), cell in groups(rows, "pair", "texts", "start"):
        for name, shown in (("ours", "invarot"), ("beside", "Procrustes")):
            values = []
            for k in counts:
                known = [row for row in cell if int(row["k"]) == k and row[name]]
                values.append(f"{mean(known, name):.1f}" if known else "–")
            lines.append(f"| {pair} | {texts} | {STARTS[start]} | {shown} | " + " | ".join(values) + " |")
    return lines


def baseline(rows: Rows) -> list[str]:
    lines = [
        "## Beside mini-vec2vec", "",
        "Top-1 in percent among 2,000 scoring texts, nothing paired; both from the same texts and seed.", "",
        "| pair | texts a side | start of ours | seeds | invarot | mini-vec2vec | verdicts of ours |", "|---|---|---|---|---|---|---|",
    ]  # fmt: skip
    for (pair, texts, start), cell in groups(rows, "pair", "texts", "start"):
        verdicts = ", ".join(sorted({row["verdict"] for row in cell}))
        lines.append(
            f"| {pair} | {texts} | {STARTS[start]} | {len(cell)} | {mean(cell, 'ours'):.1f} | {mean(cell, 'beside'):.1f} | {verdicts} |"
        )
    return lines


def draw_curve(rows: Rows, path: Path) -> None:
    """Draw top-1 over the number of known pairs, a panel a pair."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    cells = groups([row for row in rows if row["start"] == "auto"] or rows, "pair")
    figure, axes = plt.subplots(1, len(cells), figsize=(3 * len(cells), 3), sharex=True, sharey=True, squeeze=False)
    for axis, ((pair,), cell) in zip(axes[0], cells, strict=True):
        for name, shown in (("ours", "invarot"), ("beside", "Procrustes")):
            known = [(int(k), mean(some, name)) for (k,), some in groups([row for row in cell if row[name]], "k")]
            known.sort()
            axis.plot([max(k, 2) for k, _ in known], [value for _, value in known], marker="o", label=shown)
        axis.set(title=pair, xscale="log", xlabel="known pairs (0 at the left)", ylim=(0, 102))
    axes[0][0].set_ylabel("top-1 among 2,000, %")
    axes[0][0].legend()
    figure.tight_layout()
    figure.savefig(path, dpi=100)
