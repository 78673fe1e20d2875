"""Where commands print: tables for people on standard output, progress on standard error."""

import os
import sys

from rich.console import Console

# Off a terminal tables get the width they need rather than 80 columns.
out = Console(width=None if sys.stdout.isatty() or "COLUMNS" in os.environ else 120, highlight=False)
err = Console(stderr=True, highlight=False)
