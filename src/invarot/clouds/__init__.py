"""Scans and meshes: point clouds in three dimensions read, registered to each other, drawn and written."""

from .cloud import Cloud
from .picture import draw_registration
from .readers import read_cloud
from .registration import Registration, as_matrix, register
from .writers import write_cloud

__all__ = [
    "Cloud",
    "Registration",
    "as_matrix",
    "draw_registration",
    "read_cloud",
    "register",
    "write_cloud",
]
