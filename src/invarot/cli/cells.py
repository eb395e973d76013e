"""``invarot cells``: two h5ad files to one joint embedding."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..errors import InputError
from ..files import check_target
from ..logs import run
from .app import EXIT_CODES, Device, Force, command, parse_overlap, print_json, print_verdict, stderr
from .shared import Quiet, Report, Seed, Summary


@command("cells")
def cells_command(
    source: Annotated[Path, typer.Argument(help="Cells of the first assay (.h5ad), which move.")],
    target: Annotated[Path, typer.Argument(help="Cells of the second assay (.h5ad), which stay.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="File to write the joint table to (.h5ad).")],
    use: Annotated[str, typer.Option(help="Keys of the two embeddings in obsm.")] = "X_pca,X_lsi",
    label: Annotated[
        str | None, typer.Option(help="Column of obs to colour the report by; never used to align.")
    ] = None,
    overlap: Annotated[
        str,
        typer.Option(
            help="Share of the source cells that have a counterpart: auto, none (all of them) or a number in (0, 1]."
        ),
    ] = "auto",
    report: Report = None,
    seed: Seed = 0,
    device: Device = None,
    force: Force = False,
    quiet: Quiet = False,
    as_json: Summary = False,
) -> None:
    """Align two assays of one tissue, measured on different cells, with no labels.

    Exit code 0: *aligned* or *coarse*; 2: bad input; 3: *failed*; 4: *doubtful* (the table is still written).
    """
    from .. import cells
    from ..cells.tables import take_labels

    for name, path in (("--output", output), ("--report", report)):
        if path is not None:
            check_target(path, overwrite=force, name=name)
    if output.suffix != ".h5ad":
        raise InputError(
            f"--output: expected a name that ends in .h5ad, got {output}; name it {output.with_suffix('.h5ad')}"
        )
    share = parse_overlap(overlap)
    keys = tuple(one.strip() for one in use.split(","))
    if len(keys) != 2:
        raise InputError(f"--use: expected two keys with a comma between, such as X_pca,X_lsi, got {use!r}; name both")
    if label is not None and report is None:
        raise InputError("--label: expected together with --report, got it alone; add --report page.html")
    rna, atac = cells.read(source), cells.read(target)
    if label is not None:  # before the solve, not in the page after it
        take_labels(rna if label in rna.obs or label not in atac.obs else atac, label, "--label")
    with run(progress=not (quiet or as_json)):
        found = cells.align(rna, atac, use=(keys[0], keys[1]), overlap=share, device=device, rng=seed)
    names = (source.stem, target.stem) if source.stem != target.stem else ("source", "target")
    cells.write(cells.join(rna, atac, names=names), output)
    if report is not None:
        from ..report.cells import write_cells_page

        write_cells_page(rna, atac, report, color=label, names=names)
    facts = rna.uns["invarot"]
    if as_json:
        print_json(
            {
                "output": str(output), "cells": [rna.n_obs, atac.n_obs], "verdict": found.verdict.as_dict(),
                "preparation": facts["preparation"], "agreement": facts["agreement"],
            }
        )  # fmt: skip
    elif not quiet:
        print_verdict(found.verdict, stderr)
        for line in facts["preparation"]:
            stderr.print(f"  · {line}", highlight=False)
        stderr.print(f"{rna.n_obs} × {atac.n_obs} cells; joint table in {output}", highlight=False)
    raise typer.Exit(EXIT_CODES[found.verdict.word])
