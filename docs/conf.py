"""The site: ``make docs`` builds it, offline, and a warning is an error."""

from __future__ import annotations

import importlib
import logging
import os
import re
import warnings
from importlib.util import find_spec
from pathlib import Path

from sphinx.application import Sphinx

import invarot

HERE = Path(__file__).parent
os.environ.setdefault("OMP_NUM_THREADS", "2")
logging.getLogger("invarot").setLevel(logging.WARNING)  # some packages of the gallery print all that is logged

project, author = "invarot", "The invarot authors"
copyright = author
release = version = invarot.__version__
extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.mathjax",
    "myst_parser",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "gallery/**/*.ipynb", "gallery/**/*.py"]
source_suffix = {".rst": "restructuredtext", ".md": "markdown"}
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
# Links out of the site, to results/ and the like, are files that the site carries along.
suppress_warnings = ["config.cache"]

html_theme = "furo"
html_title = "invarot"
html_static_path: list[str] = []
html_show_sourcelink = False
mathjax_path = "data:,"  # formulas are plain text; nothing is loaded from the network

autodoc_member_order = "bysource"
autodoc_typehints = "none"
autodoc_class_signature = "mixed"
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False

# The gallery is executed; what needs torch is left out, with a word, where torch is not installed.
NEEDS_TORCH = "torch_gradients"
without_torch = find_spec("torch") is None
if without_torch:
    print(f"the gallery is built without {NEEDS_TORCH}.py: torch is not installed (pip install torch)")
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    "ignore_pattern": rf"{NEEDS_TORCH}\.py$" if without_torch else r"__init__\.py$",
    "download_all_examples": False,
    "show_signature": False,
    "min_reported_time": 0,
    "abort_on_example_error": True,
    "plot_gallery": "True",
}
warnings.filterwarnings("ignore", category=UserWarning, message=".*FigureCanvasAgg is non-interactive.*")

# -- the reference: a page for each module, with every public name ----------------------------------------------------

MODULES = {
    "invarot": "Alignment",
    "invarot.translation": "Word translation",
    "invarot.words": "Files of word vectors",
    "invarot.clouds": "Scans and meshes",
    "invarot.cells": "Cells",
    "invarot.migration": "Embedding models",
    "invarot.stores": "Vector stores",
    "invarot.baselines": "Baselines",
    "invarot.distributed": "Many machines",
    "invarot.retrieval": "Retrieval",
}


def list_names(module: str) -> list[str]:
    """Return the public names of a module that are not modules themselves."""
    found = importlib.import_module(module)
    names = [*found.__all__, "InvariantAligner"] if module == "invarot" else list(found.__all__)
    return sorted(name for name in names if f"{module}.{name}" not in MODULES and not _is_module(found, name))


def _is_module(parent: object, name: str) -> bool:
    return type(getattr(parent, name)).__name__ == "module"


def write_reference() -> None:
    """Write the pages of the reference, from the public names as they are."""
    folder = HERE / "api"
    folder.mkdir(exist_ok=True)
    index = ["# Reference\n", "Every public name, from its docstring.\n", "```{toctree}"]
    for module, title in MODULES.items():
        page = [f"# {title}: `{module}`\n", (importlib.import_module(module).__doc__ or "").strip().splitlines()[0], ""]
        for name in list_names(module):
            value = getattr(importlib.import_module(module), name)
            if isinstance(value, type):
                kind = "autoexception" if issubclass(value, BaseException) else "autoclass"
                options = [] if kind == "autoexception" else ["   :members:"]
            elif callable(value):
                kind, options = "autofunction", []
            else:
                kind, options = "py:data", ["", f"   {', '.join(map(str, value))}"]
            page += ["```{eval-rst}", f".. {kind}:: {module}.{name}", *options, "```", ""]
        (folder / f"{module}.md").write_text("\n".join(page), encoding="utf-8")
        index.append(module)
    (folder / "index.md").write_text("\n".join([*index, "```\n"]), encoding="utf-8")


# -- links out of the site ----------------------------------------------------------------------------------------------

OUTSIDE = re.compile(
    r"\[([^\]]+)\]\(((?:\.\./)+(?:results|src|benchmarks|SECURITY|CONTRIBUTING|README|CHANGELOG)[^)#\s]*)(#[^)]*)?\)"
)


def carry_along(text: str, folder: Path) -> str:
    """Make links to files of the repository links to copies that the site carries; a folder is only named."""

    def link(found: re.Match[str]) -> str:
        target = (folder / found[2]).resolve()
        return f"[{found[1]}](path:{found[2]})" if target.is_file() else found[1]

    return OUTSIDE.sub(link, text)


def write_changelog() -> None:
    """Write the changelog as a page of the site."""
    text = (HERE.parent / "CHANGELOG.md").read_text(encoding="utf-8")
    text = re.sub(r"\]\(docs/", "](", text)
    text = re.sub(r"\]\((results|SECURITY|CONTRIBUTING|README)", r"](../\1", text)
    (HERE / "changelog.md").write_text(text, encoding="utf-8")


def setup(app: Sphinx) -> None:
    def read(app: Sphinx, name: str, source: list[str]) -> None:
        source[0] = carry_along(source[0], (HERE / name).parent)

    app.connect("source-read", read)


write_reference()
write_changelog()
