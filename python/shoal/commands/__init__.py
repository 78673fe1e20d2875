"""The commands of `shoal`, one a file; shoal.cli lists them."""
