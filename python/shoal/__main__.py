"""python -m shoal: the command, where its folder is not on PATH."""

from shoal.cli import main

main()
