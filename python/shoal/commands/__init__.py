"""The commands of `shoal`, one in each file; shoal.cli lists them."""
