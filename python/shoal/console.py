"""Where commands print: tables for people on standard output, progress on standard error."""

import os
import sys

from rich.console import Console

# Off a terminal, tables get 120 columns rather than 80, unless COLUMNS says how many.
out = Console(width=None if sys.stdout.isatty() or "COLUMNS" in os.environ else 120, highlight=False)
err = Console(stderr=True, highlight=False)
