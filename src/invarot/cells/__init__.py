"""Cells: two assays of one tissue, measured on different cells, in one space. AnnData in, AnnData out (extra: cells)."""

from .align import align
from .embedding import embed
from .files import join, read, write
from .plot import plot
from .scores import foscttm
from .transfer import barycentre, transfer_labels

__all__ = ["align", "barycentre", "embed", "foscttm", "join", "plot", "read", "transfer_labels", "write"]
