"""Shoal: fast, configurable, verified all-to-all exchanges for MPI programs.

Schedules, their checker and the closed forms of digit systems, as the C++ core computes them:

>>> import shoal
>>> program = shoal.generate(shoal.parse("tuna:radix=3"), shoal.Problem(8), rank=2)
>>> program.sent.messages, program.sent.blocks, program.temp_peak
(4, 10, 3)
"""

from shoal._core import (
    Algorithm,
    DigitSystem,
    ExchangePlan,
    Fault,
    Network,
    Operation,
    Parameter,
    Problem,
    Schedule,
    Selection,
    Slot,
    Steps,
    Traffic,
    Tree,
    TreeLink,
    algorithms,
    bytes_on_wire,
    check,
    check_all_ranks,
    emit_c,
    emit_goal,
    expand_host_list,
    fold_host_list,
    follow_steps,
    generate,
    generate_all,
    parse,
    parse_topology,
    plan_exchange,
    plan_sizes,
    read_topology,
    square_radix,
)

__all__ = [
    "Algorithm",
    "DigitSystem",
    "ExchangePlan",
    "Fault",
    "Network",
    "Operation",
    "Parameter",
    "Problem",
    "Schedule",
    "Selection",
    "Slot",
    "Steps",
    "Traffic",
    "Tree",
    "TreeLink",
    "algorithms",
    "bytes_on_wire",
    "check",
    "check_all_ranks",
    "emit_c",
    "emit_goal",
    "expand_host_list",
    "fold_host_list",
    "follow_steps",
    "generate",
    "generate_all",
    "parse",
    "parse_topology",
    "plan_exchange",
    "plan_sizes",
    "read_topology",
    "square_radix",
]
__version__ = "0.1.0"
