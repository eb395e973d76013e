"""``python -m invarot``."""

from .cli import main

main()
