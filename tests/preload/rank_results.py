"""Runs unittest modules on every rank and writes the outcome of each test on each rank, as JSON.

usage: python rank_results.py OUTPUT DIRECTORY PATTERN TYPES MODULE...

PATTERN selects tests, as in *Alltoall*. TYPES are the element types with which mpi4py's tests repeat each exchange, as
in bid, or the word all.
"""

import json
import sys
import unittest
from pathlib import Path


class Outcomes(unittest.TestResult):
    def __init__(self):
        super().__init__()
        self.of = {}

    def stopTest(self, test):  # noqa: N802
        super().stopTest(test)
        self.of.setdefault(test.id(), "passed")

    def addSkip(self, test, reason):  # noqa: N802
        super().addSkip(test, reason)
        self.of[test.id()] = "skipped"

    def addFailure(self, test, error):  # noqa: N802
        super().addFailure(test, error)
        self.of[test.id()] = "failed"

    def addError(self, test, error):  # noqa: N802
        super().addError(test, error)
        self.of[test.id()] = "failed"

    def addSubTest(self, test, subtest, error):  # noqa: N802
        super().addSubTest(test, subtest, error)
        if error:
            self.of[test.id()] = "failed"


def leave_out_types_but(types):
    import arrayimpl

    for backend in arrayimpl.ArrayBackends:
        backend.TypeMap = {code: of_mpi for code, of_mpi in backend.TypeMap.items() if code in types}
        assert backend.TypeMap


def main(output, directory, pattern, types, *modules):
    sys.path.insert(0, directory)
    from mpi4py import MPI

    if types != "all":
        leave_out_types_but(types)
    loader = unittest.TestLoader()
    loader.testNamePatterns = [pattern]
    outcomes = Outcomes()
    loader.loadTestsFromNames(modules).run(outcomes)
    ranks = MPI.COMM_WORLD.gather(outcomes.of)
    if ranks:
        Path(output).write_text(json.dumps(ranks))
        for test, text in outcomes.failures + outcomes.errors:
            print(test.id(), text)


if __name__ == "__main__":
    main(*sys.argv[1:])
