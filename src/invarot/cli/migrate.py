"""``invarot migrate``: bring a store of vectors to another embedding model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from ..checks import check_number
from ..errors import InputError
from ..files import check_target
from ..logs import run
from ..migration import Adapter, Migration, estimate_cost, find_unfinished, fit, journal_of, map_store
from ..migration.fitting import SAMPLE
from ..stores import Store, same_place
from ..stores import open as open_store
from .app import Device, Effort, command, print_json, print_verdict, stderr
from .shared import Quiet, Seed, Summary
from .unfinished import describe_solve, find_copy, name_copy
from .wording import to_shell

NOT_WRITTEN = 3
SNIPPET = """from safetensors.numpy import load_file
adapter = load_file({path!r})["map"]
query = query @ adapter  # a vector of the new model, for the old store"""


@command("migrate")
def migrate_command(
    old: Annotated[
        str,
        typer.Argument(help="The store to migrate: a file, or lancedb:DIR#TABLE, qdrant:DIR#NAME, chroma:DIR#NAME."),
    ],
    new_sample: Annotated[
        str, typer.Argument(help="Any vectors of the new model, of other texts or the same: a store likewise.")
    ],
    map_store_to: Annotated[
        str | None, typer.Option("--map-store", metavar="DEST", help="Write all vectors, mapped, to this new store.")
    ] = None,
    map_queries: Annotated[
        Path | None,
        typer.Option("--map-queries", metavar="FILE", help="Write an adapter from new queries to the old store."),
    ] = None,
    pairs: Annotated[
        str | None,
        typer.Option(help="The same texts in both models, two ids per line; or: ids (equal ids). Used in the solve."),
    ] = None,
    check_pairs: Annotated[str | None, typer.Option(help="Likewise, used only to measure recall.")] = None,
    at_least: Annotated[
        float | None,
        typer.Option(help="Write if the recall measured on --check-pairs is this or more, whatever the verdict."),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Verdict, recall, time and space; write nothing.")] = False,
    force: Annotated[bool, typer.Option("--force", "--replace", help="Overwrite what is at the destination.")] = False,
    sample: Annotated[int, typer.Option(min=100, help="Vectors of each model used in the solve.")] = SAMPLE,
    effort: Effort = None,
    device: Device = None,
    seed: Seed = 0,
    quiet: Quiet = False,
    as_json: Summary = False,
) -> None:
    """Bring a store of vectors to another embedding model, with nothing paired.

    The old store is only read. A run that was stopped goes on when the same command is given again; with another option
    of the solve it is an error, or, with --force, begins again.

    Exit code 0: done; 2: bad input, or a server that went away; 3: nothing was written, since the verdict is not *aligned*
    (or recall is below --at-least).
    """
    _check_options(map_store_to, map_queries, check_pairs, at_least, dry_run)
    source, target = open_store(old), open_store(new_sample)
    destination = None if map_store_to is None else open_store(map_store_to)
    _check_free(destination, map_queries, force, dry_run, source, target)
    asked = describe_solve(pairs, check_pairs, at_least, sample, effort, device, seed)
    unfinished, replacing = None, False
    if destination is not None and not dry_run:
        unfinished, replacing = find_copy(source, target, destination, asked, force)
    if unfinished is not None and destination is not None:
        stderr.print(f"going on with {name_copy(unfinished, destination)}", highlight=False)
        rows = _copy(source, destination, unfinished, None, replace=replacing, quiet=quiet)
        summary = {"rows": rows, "destination": destination.address}
        _say_done(summary | _write_adapter(unfinished, map_queries), quiet, as_json)
        return
    with run(progress=not quiet):
        found = fit(
            source, target, pairs=pairs, check_pairs=check_pairs, sample=sample, effort=effort, device=device, rng=seed
        )
    summary = _summarise(found, source, destination if dry_run else None, quiet or as_json)
    good = found.is_good(at_least)
    if good and not dry_run:
        if destination is not None:
            adapter = Adapter(found.adapter.map, {**found.adapter.facts, "asked": asked})
            rows = _copy(source, destination, adapter, found, replace=force, quiet=quiet)
            summary |= {"rows": rows, "destination": destination.address}
        summary |= _write_adapter(found.adapter, map_queries)
    summary["written"] = good and not dry_run
    _say_done(summary, quiet, as_json)
    if not good:
        stderr.print("nothing was written" + ("" if dry_run else f": {_explain(found, at_least)}"), highlight=False)
        raise typer.Exit(NOT_WRITTEN)


def _check_options(
    map_store_to: str | None, map_queries: Path | None, check_pairs: str | None, at_least: float | None, dry_run: bool
) -> None:
    if map_store_to is None and map_queries is None and not dry_run:
        raise InputError(
            "migrate: expected --map-store, --map-queries or --dry-run, got none of them; say what to make"
        )
    if at_least is not None:
        check_number(at_least, "--at-least", low=0, high=1)
        if check_pairs is None:
            raise InputError(
                "--at-least: expected together with --check-pairs, got no pairs to measure recall on; add --check-pairs ids"
            )


def _check_free(
    destination: Store | None, file: Path | None, replace: bool, dry_run: bool, old: Store, new: Store
) -> None:
    """Raise before the solve for what would stop the writing after it."""
    if dry_run:
        return
    if file is not None:
        check_target(file, overwrite=replace, name="--map-queries")
        if file.suffix != ".safetensors":
            raise InputError(
                f"--map-queries: expected a name that ends in .safetensors, got {file}; name it {file.with_suffix('.safetensors')}"
            )
    if destination is None:
        return
    check_target(journal_of(destination), name="--map-store")
    if any(same_place(destination.address, one.address) for one in (old, new)):
        raise InputError(
            f"--map-store: expected another store than the sources, got {destination.address}; choose another"
        )
    if destination.exists() and not replace and find_unfinished(old, new, destination) is None:
        raise InputError(
            f"--map-store: expected a new store, got {destination.address}, which exists; choose another name, or overwrite it with --force"
        )


def _summarise(found: Migration, source: Store, destination: Store | None, quiet: bool) -> dict[str, Any]:
    """Return what was found, and print it unless ``quiet``; with a destination, also what writing to it will cost."""
    recall = found.recall
    summary: dict[str, Any] = {
        "verdict": found.verdict.as_dict(),
        "recall": {"at": recall.at, "value": recall.value, "margin": recall.margin, "measured": recall.measured},
        "count": found.old.count, "dimensions": list(found.adapter.map.shape), "seconds": found.seconds,
    }  # fmt: skip
    cost = None
    if destination is not None:
        cost = estimate_cost(source, destination, found.adapter, found.old, found.seconds["read_old"])
        summary["cost"] = {"seconds": cost.seconds, "bytes": cost.bytes}
    if not quiet:
        print_verdict(found.verdict, stderr)
        lines = [str(recall), *(f"  · {to_shell(line)}" for line in recall.meaning)]
        lines.append(f"solved in {found.seconds['solve']:.0f} s; {found.old.count} vectors to map")
        lines += [] if cost is None else [f"writing {destination.address}: {cost}"] if destination else []
        for line in lines:
            stderr.print(line, highlight=False)
    return summary


def _copy(
    source: Store, destination: Store, adapter: Adapter, found: Migration | None, *, replace: bool, quiet: bool
) -> int:
    columns = (TextColumn("{task.description}"), BarColumn(bar_width=24), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=stderr, transient=True, disable=quiet or not stderr.is_terminal) as bar:
        task = bar.add_task("writing", total=source.info().count)
        return map_store(
            source, destination, adapter, info=None if found is None else found.old, replace_existing=replace,
            on_rows=lambda rows: bar.update(task, completed=rows),
        )  # fmt: skip


def _write_adapter(adapter: Adapter, path: Path | None) -> dict[str, Any]:
    """Write the adapter for queries where it was asked for, and return what to say of it."""
    if path is None:
        return {}
    adapter.inverse().save(path)
    return {"adapter": str(path), "snippet": SNIPPET.format(path=str(path))}


def _explain(found: Migration, at_least: float | None) -> str:
    if at_least is not None:
        return f"recall is {found.recall.value:.2f}, below --at-least {at_least}"
    return f"the verdict is {found.verdict.word}; a few known pairs help (--pairs), or measure recall (--check-pairs, --at-least)"


def _say_done(summary: dict[str, Any], quiet: bool, as_json: bool) -> None:
    if as_json:
        print_json(summary)
    elif not quiet:
        if "destination" in summary:
            stderr.print(f"{summary['rows']} vectors in {summary['destination']}", highlight=False)
        if "adapter" in summary:
            stderr.print(f"adapter in {summary['adapter']}; to use it:", highlight=False)
            print(summary["snippet"])
