"""Reports: one self-contained page about a learned translation."""

from .page import write_page

__all__ = ["write_page"]
