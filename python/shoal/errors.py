"""Errors that people make."""


class UserError(Exception):
    """Says in one line what is wrong and what to do; the command ends with status 2."""
