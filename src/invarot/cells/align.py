"""The entry point: read two tables, align the assays, write the joint space back."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from ..alignment.result import Alignment
from ..alignment.verdict import SOUND
from ..checks import check_choice, check_count, check_rng
from ..errors import InputError, NotAligned
from .assays import Joined, join_assays, matched_shares
from .graph import GRAPH_NEIGHBOURS
from .plans import keep_largest
from .preparation import ROW_KINDS, VIEWS
from .search import Choice
from .solve import agreement
from .tables import JOINT, KEY, MATCHED, PLAN, take_embedding, take_sides

KNOWN = (*VIEWS, "whitened")
LEAST_CELLS = 2 * (GRAPH_NEIGHBOURS + 1)  # each half is searched by itself, and has to hold the neighbours of a cell


def align(
    rna: Any,
    atac: Any = None,
    *,
    use: tuple[str, str] = ("X_pca", "X_lsi"),
    views: tuple[str, ...] = VIEWS,
    rows: str = "auto",
    overlap: str | float | tuple[float, float] | None = "auto",
    plan_entries: int = 30,
    require: str | None = None,
    device: str | None = None,
    rng: int | np.random.Generator = 0,
) -> Alignment:
    """Align two assays of one tissue, measured on different cells; nothing is paired and no label is used.

    Each assay is looked at in several ways (``views``), and one plan has to fit all of them. Nothing needs to be known of
    how the embeddings were made.

    Parameters
    ----------
    rna, atac : AnnData; or a MuData with two modalities, alone
        The first moves, the second stays. Cells keep their names and order.
    use : (str, str)
        Keys of the two embeddings in ``obsm`` ("X": the matrix itself).
    views : tuple of str
        Of "linear", "cosine", "graph" and "whitened".
    rows : {"auto", "as is", "unit", "roots"}
        How the rows of both embeddings are scaled first: not at all, to length 1, or to the square roots of their shares.
        "auto" decides for each assay: lengths much noisier than directions are sequencing depth.
    overlap : {"auto"}, float, pair of floats or None
        Which cells have a counterpart. "auto": all of them alike, unless the assays agree clearly better without a part of
        one of them, which then gets nearly no weight. None: all of them. Shares: as in :func:`invarot.align`.
    plan_entries : int
        Entries that are kept in each row of the plan.
    require, device, rng
        As in :func:`invarot.align`.

    Returns
    -------
    Alignment
        Of the stacked views. On both tables: ``obsm["X_invarot"]``, the joint space; ``obsm["invarot_plan"]``, a sparse
        matrix from the cells of this table to those of the other, each row the largest entries of the plan;
        ``obs["invarot_matched"]``, the share of a cell's weight that is matched; ``uns["invarot"]``: verdict, reasons,
        options, versions.

    Examples
    --------
    >>> result = cells.align(rna, atac)  # doctest: +SKIP
    >>> rna.obsm["X_invarot"].shape, rna.uns["invarot"]["verdict"]["word"]  # doctest: +SKIP
    """
    left, right = take_sides(rna, atac)
    names = _check_views(views)
    check_choice(rows, "rows", ("auto", *ROW_KINDS))
    check_count(plan_entries, "plan_entries")
    if not isinstance(use, (tuple, list)) or len(use) != 2:
        raise InputError(f'use: expected two keys, such as ("X_pca", "X_lsi"), got {use!r}')
    if require is not None:
        check_choice(require, "require", SOUND)
    generator = check_rng(rng)
    points = take_embedding(left, use[0], "rna"), take_embedding(right, use[1], "atac")
    for one, name in zip(points, ("rna", "atac"), strict=True):
        if len(one) < LEAST_CELLS:
            raise InputError(
                f"{name}: expected at least {LEAST_CELLS} cells, got {len(one)}; pass more, or use invarot.align"
            )

    joined = join_assays(*points, views=names, rows=rows, overlap=overlap, rng=generator, device=device)
    found = joined.solved.alignment
    facts = _describe(joined, views=names, overlap=overlap)
    plans = found.plan, found.plan.transposed()
    for table, key, how, space, plan, matched in zip(
        (left, right), use, joined.rows, joined.spaces, plans, matched_shares(found), strict=True
    ):
        table.obsm[JOINT] = space
        table.obsm[PLAN] = keep_largest(plan, plan_entries)
        table.obs[MATCHED] = matched
        table.uns[KEY] = {**facts, "use": key, "rows": how}
    if require is not None and not found.verdict.meets(require):
        raise NotAligned(f'require="{require}": the verdict is {found.verdict}', found)
    return found


def _check_views(views: Any) -> tuple[str, ...]:
    if isinstance(views, str) or not len(views):
        raise InputError(f"views: expected some of {', '.join(KNOWN)}, as a tuple, got {views!r}")
    names = tuple(check_choice(one, "views", KNOWN) for one in views)
    if len(set(names)) < len(names):
        raise InputError(f"views: expected each view once, got {views!r}")
    return names


def _describe(joined: Joined, *, views: tuple[str, ...], overlap: Any) -> dict[str, Any]:
    """Return what is written to ``uns``: plain values that an h5ad file can hold."""
    solved = joined.solved
    found, verdict = solved.alignment, solved.alignment.verdict
    reached = agreement(solved.x, solved.y, found)
    facts: dict[str, Any] = {
        "verdict": {"word": verdict.word, "probability": float(verdict.probability), "reasons": list(verdict.reasons)},
        "preparation": [*explain_rows(joined.noise, joined.rows), *explain_choice(solved.choices, reached)],
        "agreement": reached,
        "choices": [one.agreement for one in solved.choices],
        "options": {"views": list(views), "overlap": "none" if overlap is None else str(overlap)},
        "versions": {name: _version(name) for name in ("invarot", "numpy", "scipy", "anndata")},
    }
    resolution = getattr(verdict, "resolution", None)  # of solvers that estimate them
    if resolution is not None:
        facts["verdict"]["resolution"] = {
            name: float(getattr(resolution, name)) for name in ("estimate", "low", "high")
        }
    shares = [float(one.mean()) for one in matched_shares(found)]
    facts["overlap"] = shares if found.overlap is None else list(found.overlap)
    return facts


def explain_rows(noise: tuple[float, ...], scaled: tuple[str, ...]) -> list[str]:
    """Return why the rows of each assay were scaled as they were."""
    done = {"as is": "kept as they are", "unit": "scaled to length 1", "roots": "turned into square roots of shares"}
    return [
        f"rows of the {name} assay {done[how]}: their lengths are {one:.2g} times as noisy as another direction"
        for name, one, how in zip(("first", "second"), noise, scaled, strict=True)
    ]


def explain_choice(choices: list[Choice], reached: dict[str, float]) -> list[str]:
    """Return how well the views agree under the final plan, and what the chosen plan of the search was chosen from."""
    others = ", ".join(f"{one.agreement:.3f}" for one in choices[1:4])
    return [
        "matched cells agree: " + ", ".join(f"{name} {score:.2f}" for name, score in reached.items()),
        f"the chosen plan agrees to {choices[0].agreement:.3f}" + (f", other plans to {others}" if others else ""),
    ]


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"
