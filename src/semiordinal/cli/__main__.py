"""``python -m semiordinal.cli``."""

from . import main

main()
