"""python -m shoal: the command, for when its folder is not on PATH."""

from shoal.cli import main

main()
