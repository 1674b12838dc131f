"""``python -m tstmeta``: the command line, also where the console script is not on the path."""

from .cli import main

main()
