"""Shoal: fast, configurable, verified all-to-all exchanges for MPI programs.

Schedules, their checker and the closed forms of digit systems, as the C++ core computes them:

>>> import shoal
>>> program = shoal.generate(shoal.parse("tuna:radix=3"), shoal.Problem(8), rank=2)
>>> program.sent.messages, program.sent.blocks, program.temp_peak
(4, 10, 3)

Exchanges on mpi4py's communicators, such as `shoal.alltoallv(comm, sendbuf, recvbuf)`, are in shoal.exchanges.
"""

from typing import TYPE_CHECKING, Any

from shoal._core import (
    COMMON_PRICES,
    MOST_RANKS,
    Algorithm,
    Choice,
    DigitSystem,
    EventMachine,
    ExchangePlan,
    Fault,
    LevelLoad,
    Load,
    Network,
    Operation,
    Parameter,
    Problem,
    Profile,
    Schedule,
    Selection,
    Setting,
    Slot,
    Steps,
    Traffic,
    Tree,
    TreeLink,
    Wave,
    algorithms,
    best_levels,
    best_radices,
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
    load_of,
    parse,
    parse_topology,
    plan_exchange,
    plan_sizes,
    quota_cores,
    read_profile,
    read_topology,
    settings,
    simulate_events,
    square_radix,
    waves,
    worth_measuring,
)

if TYPE_CHECKING:
    from shoal.exchanges import (
        Arrivals,
        Request,
        alltoall,
        alltoall_init,
        alltoallv,
        alltoallv_init,
        alltoallw,
        alltoallw_init,
        exchange,
        explain,
        ialltoall,
        ialltoallv,
        ialltoallw,
        iexchange,
        neighbor_alltoall,
        neighbor_alltoallv,
        neighbor_alltoallw,
        set_algorithm,
    )

__all__ = [
    "COMMON_PRICES",
    "MOST_RANKS",
    "Algorithm",
    "Arrivals",
    "Choice",
    "DigitSystem",
    "EventMachine",
    "ExchangePlan",
    "Fault",
    "LevelLoad",
    "Load",
    "Network",
    "Operation",
    "Parameter",
    "Problem",
    "Profile",
    "Request",
    "Schedule",
    "Selection",
    "Setting",
    "Slot",
    "Steps",
    "Traffic",
    "Tree",
    "TreeLink",
    "Wave",
    "algorithms",
    "alltoall",
    "alltoall_init",
    "alltoallv",
    "alltoallv_init",
    "alltoallw",
    "alltoallw_init",
    "best_levels",
    "best_radices",
    "bytes_on_wire",
    "check",
    "check_all_ranks",
    "emit_c",
    "emit_goal",
    "exchange",
    "expand_host_list",
    "explain",
    "fold_host_list",
    "follow_steps",
    "generate",
    "generate_all",
    "ialltoall",
    "ialltoallv",
    "ialltoallw",
    "iexchange",
    "load_of",
    "neighbor_alltoall",
    "neighbor_alltoallv",
    "neighbor_alltoallw",
    "parse",
    "parse_topology",
    "plan_exchange",
    "plan_sizes",
    "quota_cores",
    "read_profile",
    "read_topology",
    "set_algorithm",
    "settings",
    "simulate_events",
    "square_radix",
    "waves",
    "worth_measuring",
]
__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """Imports shoal.exchanges when one of its names is first used, because the command line needs none of them."""
    if name not in __all__:
        raise AttributeError(f"module 'shoal' has no attribute {name!r}")
    from shoal import exchanges

    return getattr(exchanges, name)
