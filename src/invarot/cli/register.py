"""``invarot register``: lay one point cloud on another."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..clouds import Registration, draw_registration, read_cloud, register, write_cloud
from ..clouds.picture import check_picture, load_figure
from ..clouds.registration import format_matrix
from ..clouds.writers import check_output
from ..errors import InputError
from ..files import check_target, write_file
from ..logs import run
from .app import EXIT_CODES, Force, command, parse_overlap, print_json, print_verdict, stdout
from .shared import Seed


@command("register")
def register_command(
    source: Annotated[Path, typer.Argument(help="Cloud to move: .ply .obj .xyz .txt .pts .csv .npy, also with .gz")],
    target: Annotated[Path, typer.Argument(help="Cloud that stays where it is.")],
    output: Annotated[
        Path, typer.Option("-o", "--output", help="File to write the moved source to: its points, without faces.")
    ],
    overlap: Annotated[
        str,
        typer.Option(help="Share of the source that has a counterpart: auto, none (all of it) or a number in (0, 1]."),
    ] = "auto",
    scale: Annotated[bool, typer.Option("--scale", help="Also fit a scale.")] = False,
    reflect: Annotated[bool, typer.Option("--reflect", help="Allow mirror images.")] = False,
    seed: Seed = 0,
    matrix: Annotated[
        Path | None, typer.Option(help="File to write the 4×4 matrix to [OUTPUT with .matrix.txt for its suffix].")
    ] = None,
    picture: Annotated[
        Path | None, typer.Option(help="Also draw both clouds before and after (.png, .pdf, .svg).")
    ] = None,
    force: Force = False,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="Print nothing.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON on stdout.")] = False,
) -> None:
    """Move one point cloud onto another with no start and no pairs given.

    Prints and writes the 4×4 matrix T for column vectors: q = T p, p = (x, y, z, 1) in the source, q in the target.

    Exit code 0: the verdict is *aligned* or *coarse*; 2: bad input; 3: *failed*; 4: *doubtful* (the files are still written).
    """
    share = parse_overlap(overlap)
    matrix = matrix or output.with_name(output.name.split(".")[0] + ".matrix.txt")
    check_output(output)
    if picture is not None:
        check_picture(picture)
        load_figure()
    check_new({"--output": output, "--matrix": matrix, "--picture": picture}, force=force)
    moving, fixed = read_cloud(source), read_cloud(target)
    with run(progress=not (quiet or as_json)):
        found = register(moving, fixed, overlap=share, scale=scale, reflect=reflect, rng=seed)
    write_cloud(output, found.moved, overwrite=force)
    with write_file(matrix, overwrite=force, name="--matrix") as stream:
        stream.write(describe_matrix(found).encode())
    if picture is not None:
        draw_registration(picture, moving, fixed, found)
    if as_json:
        print_json({
            "matrix": found.matrix.tolist(), "overlap": found.overlap, "rmse": found.rmse,
            "verdict": found.verdict.as_dict(), "points": [len(moving), len(fixed)], "moved": str(output),
        })  # fmt: skip
    elif not quiet:
        summarise(found, output, matrix)
    raise typer.Exit(EXIT_CODES[found.verdict.word])


def check_new(files: dict[str, Path | None], *, force: bool) -> None:
    """Raise if the files of these options would be written over others, or over each other."""
    named = {option: path for option, path in files.items() if path is not None}
    if len({path.resolve() for path in named.values()}) < len(named):
        shown = ", ".join(map(str, named.values()))
        raise InputError(f"--output: expected different files, got {shown}; rename one of them")
    for option, path in named.items():
        check_target(path, overwrite=force, name=option)


def describe_matrix(found: Registration) -> str:
    """Return the text of the matrix file: 16 numbers, then what is known of them as comments."""
    lines = [
        *format_matrix(found.matrix),
        "# q = T p for column vectors: p = (x, y, z, 1) in the source, q in the target",
        f"# overlap {found.overlap[0]:.4f} of the source, {found.overlap[1]:.4f} of the target",
        f"# rmse {found.rmse:.6g} (matched part)",
        f"# verdict {found.verdict.word} (probability {found.verdict.probability:.2f})",
    ]
    return "\n".join(lines) + "\n"


def summarise(found: Registration, output: Path, matrix: Path) -> None:
    """Print the verdict, the matrix and where it was written."""
    print_verdict(found.verdict, stdout)
    stdout.print(
        f"overlap: {found.overlap[0]:.1%} of the source, {found.overlap[1]:.1%} of the target; "
        f"RMSE of the matched part: {found.rmse:.4g}",
        highlight=False,
    )
    stdout.print("T, with q = T p for column vectors p = (x, y, z, 1) of the source:", highlight=False)
    for row in format_matrix(found.matrix, ".6f"):
        stdout.print(f"  {row}", highlight=False)
    stdout.print(f"moved source in {output}, matrix in {matrix}", highlight=False)
