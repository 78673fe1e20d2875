"""The C++ core: the table of algorithms, schedules, their checker, digit systems.

Wrong values (an unknown algorithm, a parameter out of range, a rank that does not exist, an algorithm that cannot serve
the problem) raise ValueError with the value and what is allowed.
"""

from collections.abc import Sequence
from typing import Any, Literal, final, overload

_Collective = Literal["alltoall", "allgather", "neighbor_alltoall"]

@final
class Parameter:
    """Accepts the words, whole numbers lowest..highest (none if lowest > highest), as list such numbers joined by x."""

    @property
    def name(self) -> str: ...
    @property
    def summary(self) -> str: ...
    @property
    def standard(self) -> str:
        """The default, as written in a spec."""
    @property
    def words(self) -> list[str]:
        """Accepted beside the numbers."""
    @property
    def lowest(self) -> int: ...
    @property
    def highest(self) -> int: ...
    @property
    def list(self) -> bool: ...
    @property
    def by_level(self) -> bool:
        """A value for each level of the layout, the innermost first, joined by /; the last holds for all further."""

@final
class Algorithm:
    """An entry of the table of algorithms."""

    @property
    def name(self) -> str: ...
    @property
    def collective(self) -> _Collective: ...
    @property
    def uniform_only(self) -> bool:
        """Needs blocks of equal size."""
    @property
    def summary(self) -> str: ...
    @property
    def source(self) -> str:
        """The paper or library it comes from."""
    @property
    def parameters(self) -> list[Parameter]: ...
    @property
    def has_waves(self) -> bool:
        """Whether there is a formula for its cost (waves), if not for all parameters."""
    @property
    def has_schedule(self) -> bool:
        """False for `native`, the MPI library's own."""

@final
class Selection:
    """An algorithm with its parameters; str() gives the shortest spec that means it."""

    @property
    def algorithm(self) -> Algorithm: ...
    @property
    def arguments(self) -> dict[str, str]: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

def algorithms() -> list[Algorithm]:
    """All of them, in the order of `shoal list`."""

@final
class Wave:
    """What a rank sends, on average, in messages that are in flight together: inside its node, and to other nodes."""

    @property
    def messages(self) -> float: ...
    @property
    def local_messages(self) -> float: ...
    @property
    def local(self) -> float:
        """Blocks."""
    @property
    def crossing_messages(self) -> float: ...
    @property
    def crossing(self) -> float:
        """Blocks."""
    @property
    def announced(self) -> float:
        """Messages with sizes, of all."""

def waves(selection: Selection, nodes: int, per_node: int, *, in_rounds: bool = False) -> list[Wave] | None:
    """By the algorithm's formula, for any number of ranks; None if it has none. `in_rounds`: one step at a time."""

def parse(spec: str, collective: str = "alltoall") -> Selection:
    """Of a spec such as "tuna:radix=3"."""

@final
class Problem:
    """What is to be exchanged: among how many ranks, of which the first `senders` send (allgather between two groups),
    on which nodes ("4,4,3", "cyclic:3x4", "0,3/1,2") or levels ("group:4 node:8 socket:2 core:8"); the layout may give
    the number of ranks too. Among neighbours: the ranks to which each sends, in the order of its blocks; what it
    receives is in the order of the senders."""

    def __init__(
        self, ranks: int = 0, *, senders: int = 0, layout: str = "", neighbors: list[list[int]] | None = None
    ) -> None: ...
    @property
    def ranks(self) -> int: ...
    @property
    def senders(self) -> int: ...
    @property
    def has_neighbors(self) -> bool: ...
    @property
    def levels(self) -> list[str]:
        """Those of the layout, from the outside in; empty without one."""
    @property
    def largest_node(self) -> int:
        """Its ranks; 1 without a layout."""

def worth_measuring(problem: Problem, equal_blocks: bool) -> list[str]:
    """Specs that `shoal tune` measures besides the MPI's own."""

@final
class Slot:
    """A place for one block; str() gives "send[3]"."""

    @property
    def place(self) -> Literal["send", "recv", "temp"]: ...
    @property
    def index(self) -> int: ...
    @property
    def passing(self) -> bool:
        """In a message: the block goes on from the receiver."""

@final
class Operation:
    """What one rank does at one point: copies a block, sends or receives a message."""

    @property
    def id(self) -> int: ...
    @property
    def kind(self) -> Literal["copy", "send", "recv"]: ...
    @property
    def peer(self) -> int | None:
        """The other rank of a message."""
    @property
    def step(self) -> int:
        """For people: the round it belongs to."""
    @property
    def slots(self) -> list[Slot]: ...
    @property
    def after(self) -> list[int]:
        """Operations that must have ended before, by id."""

@final
class Traffic:
    """What one rank sends."""

    @property
    def messages(self) -> int: ...
    @property
    def blocks(self) -> int: ...
    @property
    def metadata_messages(self) -> int:
        """With at least one announced size."""
    @property
    def metadata_sizes(self) -> int:
        """Sizes announced."""
    @property
    def tokens(self) -> int:
        """Messages without blocks."""

@final
class Schedule:
    """The program of one rank: operations, in an order in which they can run."""

    @property
    def ranks(self) -> int: ...
    @property
    def rank(self) -> int: ...
    @property
    def parts(self) -> int:
        """Of each block, which travel apart."""
    @property
    def temp_slots(self) -> int: ...
    @property
    def temp_peak(self) -> int:
        """Most temp slots in use at once."""
    @property
    def full_metadata(self) -> bool:
        """Announces the sizes of arriving blocks too."""
    @property
    def sent(self) -> Traffic: ...
    @property
    def memory(self) -> tuple[int, int]:
        """Bytes of the program, made once, and of what an exchange keeps while it runs, without the blocks."""
    @property
    def operations(self) -> list[Operation]: ...
    def to_dict(self) -> dict[str, Any]:
        """One entry of "programs" in the output of `shoal plan --json`."""

def generate(selection: Selection, problem: Problem, rank: int) -> Schedule:
    """The program of one rank."""

def generate_all(selection: Selection, problem: Problem) -> list[Schedule]:
    """The programs of ranks 0, 1, ..."""

@final
class Fault:
    """What is wrong with schedules, and where."""

    @property
    def kind(self) -> str: ...
    @property
    def rank(self) -> int: ...
    @property
    def operation(self) -> int | None:
        """Its id in the program of the rank."""
    @property
    def text(self) -> str: ...

@final
class Steps:
    """Schedules followed step by step; str() gives one line a step, such as "1: 0->7:m0 3->4:m3"."""

    @property
    def fault(self) -> str | None:
        """What breaks the rules of steps: one port a rank, nothing sent before it is there."""
    @property
    def count(self) -> int: ...
    @property
    def volume(self) -> float:
        """Sum over the steps of the largest transfer, in blocks."""
    @property
    def traffic(self) -> float:
        """All blocks moved."""

def follow_steps(programs: Sequence[Schedule], *, senders: int) -> Steps:
    """Of an allgather between two groups; the programs are those of ranks 0, 1, ..."""

def check(programs: Sequence[Schedule], *, senders: int = 0) -> Fault | None:
    """The first fault of the programs of ranks 0, 1, ...; senders > 0: of an allgather between two groups."""

def check_all_ranks(selection: Selection, problem: Problem) -> Fault | None:
    """check() of all programs that the algorithm makes for the problem."""

@final
class DigitSystem:
    """How a radix algorithm writes the offset between two ranks, and what follows from it; lowest digit first."""

    @overload
    def __init__(self, ranks: int, radix: int) -> None: ...
    @overload
    def __init__(self, ranks: int, radices: Sequence[int]) -> None: ...
    @property
    def ranks(self) -> int: ...
    @property
    def radices(self) -> list[int]: ...
    def steps_of_digit(self, digit: int) -> int:
        """Step (digit, z) exists for z from 1 to this."""
    def blocks_of_step(self, digit: int, z: int) -> int:
        """Blocks a rank sends in step (digit, z): offsets whose digit is z."""
    @property
    def steps(self) -> int: ...
    @property
    def blocks(self) -> int: ...
    @property
    def passing_steps(self) -> int:
        """Steps with a block that passes through."""
    @property
    def slot_bound(self) -> int:
        """Offsets whose blocks ever pass through."""
    @property
    def peak_slots(self) -> int:
        """Most of them alive at once."""

def square_radix(ranks: int) -> int:
    """The least radix, at least 2, with two digits for this number of ranks."""

@final
class Network:
    """Switches and machines joined by links, which form a tree, and where the ranks are: rank r on the r-th machine in
    the natural order of names until place_ranks() says otherwise."""

    @property
    def ranks(self) -> int: ...
    @property
    def hosts(self) -> list[str]:
        """The machine of each rank."""
    @property
    def machines(self) -> list[str]: ...
    @property
    def nodes(self) -> list[tuple[str, bool]]:
        """Names, and whether they are machines."""
    @property
    def links(self) -> list[tuple[str, str, float]]:
        """Two names and bits per second."""
    def place_ranks(self, hosts: Sequence[str]) -> None:
        """Names repeat where a machine has several ranks; a domain is ignored where the full name is unknown."""
    def choose_root(self, name: str) -> None:
        """Of the tree that schedules see; else the canonical one."""
    def problem(self) -> Problem:
        """An all-to-all among these ranks, for generate() with an algorithm that uses the switches."""
    def to_slurm(self) -> str:
        """As Slurm's topology.conf."""
    def to_edge_list(self) -> str:
        """As read_topology() reads it."""

def read_topology(path: str) -> Network:
    """Slurm's topology.conf, or an edge list: "a b [bandwidth]", "switch NAME...", "machine NAME..."."""

def parse_topology(text: str, file: str = "topology") -> Network:
    """read_topology() of a text; errors name the file."""

def expand_host_list(hosts: str) -> list[str]:
    """The names that Slurm's "n[0-3,7]" stands for."""

def fold_host_list(names: Sequence[str]) -> str:
    """The short form that expand_host_list() reads."""

@final
class TreeLink:
    """A link of a rooted network: `below` is farther from the root."""

    @property
    def above(self) -> str: ...
    @property
    def below(self) -> str: ...
    @property
    def ranks_below(self) -> int: ...
    @property
    def load(self) -> int:
        """Messages of an all-to-all in each direction."""
    @property
    def streams(self) -> int:
        """Messages it carries at once at the rate of the slowest link."""
    @property
    def bits_per_second(self) -> float: ...

@final
class Tree:
    """A network as schedules see it. Groups are the subtrees of the root, or parts of them behind faster links."""

    def __init__(self, network: Network) -> None: ...
    @property
    def ranks(self) -> int: ...
    @property
    def top(self) -> str:
        """The node everything hangs from: the root when there are at least two ranks."""
    @property
    def roots(self) -> list[str]:
        """All nodes that may be the root, the canonical one first."""
    @property
    def groups(self) -> list[list[int]]: ...
    @property
    def links(self) -> list[TreeLink]:
        """Cables, from the root down."""
    @property
    def bottleneck(self) -> TreeLink | None:
        """The link that takes longest."""
    @property
    def phases(self) -> int:
        """Fewest possible, of the time of one message on the slowest link."""
    @property
    def contending_pairs(self) -> int:
        """Pairs of messages of different senders that share a directed edge."""
    def seconds(self, bytes_per_block: int) -> float:
        """No all-to-all of equal blocks is faster."""
    def sized_seconds(self, sizes: Sequence[int]) -> float:
        """The same for blocks of known sizes in bytes, by sender and then receiver."""
    def contention(self, programs: Sequence[Schedule]) -> str | None:
        """The first step in which an edge carries more messages than its link has streams."""

def bytes_on_wire(payload: int) -> int:
    """With the headers of TCP, IP and Ethernet for every 1448 bytes: 1538 bytes of a link."""

@final
class ExchangePlan:
    """All messages of an all-to-all on a tree, by phases, and what keeps them apart."""

    @property
    def phases(self) -> list[list[int]]:
        """Of each phase [sender, receiver, sender, receiver, ...]."""
    @property
    def synchronisations(self) -> list[list[int]]:
        """[phase, sender, receiver] of a message and of the one that waits for it."""
    @property
    def candidates(self) -> int:
        """Synchronisations of different senders before those were left out that others imply."""
    def program(self, rank: int) -> Schedule:
        """Of one rank, with whole blocks."""

def plan_exchange(tree: Tree, *, window: int = 1, sync: str = "auto") -> ExchangePlan:
    """Parameters as of the algorithm `tree`."""

def plan_sizes(tree: Tree, sizes: Sequence[int], *, window: int = 1, sync: str = "auto") -> tuple[ExchangePlan, float]:
    """For blocks of known sizes in bytes, by sender and then receiver; and the seconds it should take."""

def emit_c(programs: Sequence[Schedule], title: str = "", hosts: Sequence[str] = ()) -> str:
    """A C file with an MPI_Alltoall that follows the programs of ranks 0, 1, ... on these hosts."""

def emit_goal(programs: Sequence[Schedule], block_bytes: int) -> str:
    """The input of LogGOPSim."""

@final
class Choice:
    """What is chosen, and why; seconds are 0 where they are not known, next is empty where there is no other."""

    @property
    def spec(self) -> str: ...
    @property
    def reason(self) -> str: ...
    @property
    def seconds(self) -> float: ...
    @property
    def next(self) -> str: ...
    @property
    def next_seconds(self) -> float: ...

@final
class Profile:
    """What exchanges took on one machine; str() is the file that `shoal tune` writes. Empty texts fit any job."""

    def __init__(
        self,
        *,
        ranks: int,
        shoal: str = "",
        mpi: str = "",
        machine: str = "",
        layout: str = "",
        kinds: dict[str, list[tuple[int, dict[str, float]]]],
        sparse: list[tuple[int, dict[str, float]]] = ...,
        asking: float = 0,
    ) -> None:
        """Rows by kind (alltoall, alltoallv): bytes a block, and seconds by spec; `sparse`: where most are empty."""
    @property
    def ranks(self) -> int: ...
    @property
    def mpi(self) -> str: ...
    @property
    def machine(self) -> str: ...
    @property
    def layout(self) -> str: ...
    def rows(self, kind: str) -> list[tuple[int, dict[str, float]]]:
        """Bytes a block, and seconds by spec."""
    def sparse_rows(self) -> list[tuple[int, dict[str, float]]]:
        """The same of mostly empty exchanges with MPI_Alltoallv."""
    def choose(self, kind: str, block: float, empty: float = 0.0) -> Choice:
        """For blocks of `block` bytes, a share of which is empty."""
    def seconds(self, kind: str, spec: str, block: float, empty: float = 0.0) -> float:
        """What it took, between measured sizes on straight lines; arguments as of choose()."""

def read_profile(path: str) -> Profile:
    """Raises ValueError with the file, the line, what is wrong and what is expected."""

@final
class LevelLoad:
    """Of one level; to other nodes the blocks of all ranks of a node, which share its link."""

    @property
    def waits(self) -> int:
        """The longest chain of messages that wait for each other."""
    @property
    def messages(self) -> int: ...
    @property
    def blocks(self) -> int: ...

@final
class Load:
    """What a schedule asks of a machine, each count of the rank where it is largest."""

    @property
    def memory(self) -> LevelLoad: ...
    @property
    def node(self) -> LevelLoad: ...
    @property
    def network(self) -> LevelLoad:
        """Between nodes of a group."""
    @property
    def groups(self) -> LevelLoad:
        """Between groups of nodes: the level `group`."""
    @property
    def copied_blocks(self) -> int:
        """Packed into messages of several blocks, or out of them."""

def load_of(selection: Selection, problem: Problem) -> Load:
    """Counted from the schedules; of more than 64 ranks a sample is looked at."""

@final
class EventMachine:
    """For `simulate_events`, in seconds: what a message and a byte of it take of a rank's time at each end; latency
    and a byte inside a node; latency of a link, and a byte on each; and the links from node a to node b at
    a * nodes + b."""

    def __init__(
        self, *, message: tuple[float, float], node: tuple[float, float], link_latency: float,
        link_per_byte: list[float], nodes: int, paths: list[list[int]],
    ) -> None: ...  # fmt: skip

def simulate_events(selection: Selection, problem: Problem, block: float, machine: EventMachine) -> float:
    """Seconds of an exchange of equal blocks of so many bytes: every operation of every rank, message by message, which
    queue at links. Where ranks' schedules differ in names only."""

# Of a common machine: of memory, node, network and groups, as best_levels takes them, and of a byte copied.
COMMON_PRICES: tuple[tuple[tuple[float, float, float], ...], float] = ...

@final
class Setting:
    """What people can set: by an environment variable, a line of SHOAL_CONFIG, and by the key shoal_name of an MPI_Info
    if it is a key."""

    @property
    def name(self) -> str: ...
    @property
    def variable(self) -> str: ...
    @property
    def takes(self) -> str:
        """SPEC: an algorithm; else the values, or what kind they are."""
    @property
    def help(self) -> str: ...
    @property
    def is_key(self) -> bool: ...
    def require(self, value: str) -> None:
        """Raises ValueError with what is allowed, if this cannot be the value."""

def settings() -> list[Setting]:
    """All of them."""

def quota_cores(root: str = "/") -> int | None:
    """What the control groups of this process allow, in whole cores and at least 1; None if they limit nothing. `root`:
    where /proc and /sys are."""

def best_radices(ranks: int, *, per_digit: float, per_step: float, per_block: float) -> list[int]:
    """The digit system that costs least, among all; lowest digit first, empty for one rank."""

def best_levels(problem: Problem, block: float, *, prices: list[tuple[float, float, float]], copy: float) -> str:
    """The hierarchical exchange that costs least on the levels of the problem, for blocks of this many bytes. `prices`:
    of memory, node, network and groups, the seconds for a wait, a message and a byte; `copy`: for a byte copied."""
