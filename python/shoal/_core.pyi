"""The C++ core: the table of algorithms, schedules, their checker, digit systems.

Wrong values (an unknown algorithm, a parameter out of range, a rank that does not exist, an algorithm that cannot serve
the problem) raise ValueError, which names the value and what is allowed.
"""

from collections.abc import Sequence
from typing import Any, Literal, final, overload

_Collective = Literal["alltoall", "allgather", "neighbor_alltoall"]

@final
class Parameter:
    """A parameter of an algorithm. It accepts its words, and whole numbers from lowest to highest (none if lowest >
    highest). A list accepts such numbers joined by x."""

    @property
    def name(self) -> str: ...
    @property
    def summary(self) -> str: ...
    @property
    def standard(self) -> str:
        """The default, as written in a spec."""
    @property
    def words(self) -> list[str]:
        """The words that are accepted beside the numbers."""
    @property
    def lowest(self) -> int: ...
    @property
    def highest(self) -> int: ...
    @property
    def list(self) -> bool: ...
    @property
    def by_level(self) -> bool:
        """Whether it accepts a value for each level of the layout, the innermost first, joined by /. The last value
        holds for all levels further out."""

@final
class Algorithm:
    """An entry of the table of algorithms."""

    @property
    def name(self) -> str: ...
    @property
    def collective(self) -> _Collective: ...
    @property
    def uniform_only(self) -> bool:
        """Whether it needs blocks of equal size."""
    @property
    def summary(self) -> str: ...
    @property
    def source(self) -> str:
        """The paper or library it comes from."""
    @property
    def parameters(self) -> list[Parameter]: ...
    @property
    def has_waves(self) -> bool:
        """Whether there is a formula for its cost (waves), though perhaps not for all parameters."""
    @property
    def has_schedule(self) -> bool:
        """False for `native`, the MPI library's own collective."""

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
    """All algorithms, in the order of `shoal list`."""

@final
class Wave:
    """What a rank sends, on average, in messages that are in flight together: inside its node, and to other nodes."""

    @property
    def messages(self) -> float: ...
    @property
    def local_messages(self) -> float: ...
    @property
    def local(self) -> float:
        """Blocks inside the node."""
    @property
    def crossing_messages(self) -> float: ...
    @property
    def crossing(self) -> float:
        """Blocks to other nodes."""
    @property
    def announced(self) -> float:
        """How many of all these messages have sizes sent with them."""

def waves(selection: Selection, nodes: int, per_node: int, *, in_rounds: bool = False) -> list[Wave] | None:
    """The waves by the algorithm's formula, for any number of ranks; None if it has no formula. `in_rounds`: one step
    at a time."""

def parse(spec: str, collective: str = "alltoall") -> Selection:
    """The algorithm and parameters that a spec such as "tuna:radix=3" names."""

@final
class Problem:
    """What is to be exchanged, and among how many ranks. `senders`: how many of the first ranks send, in an allgather
    between two groups. `layout`: the nodes of the ranks ("4,4,3", "cyclic:3x4", "0,3/1,2") or their levels ("group:4
    node:8 socket:2 core:8"); it may give the number of ranks too. `neighbors`: in an exchange among neighbours, the
    ranks to which each rank sends, in the order of its blocks. A rank receives blocks in the order of their senders."""

    def __init__(
        self, ranks: int = 0, *, senders: int = 0, layout: str = "", neighbors: list[list[int]] | None = None
    ) -> None: ...
    @property
    def ranks(self) -> int: ...
    @property
    def senders(self) -> int: ...
    @property
    def collective(self) -> _Collective: ...
    @property
    def levels(self) -> list[str]:
        """The levels of the layout, from the outside in; empty without a layout."""
    @property
    def largest_node(self) -> int:
        """How many ranks the largest node has; 1 without a layout."""

def grid_neighbors(extents: Sequence[int], *, closed: bool) -> list[list[int]]:
    """To whom each rank of a grid sends: in each dimension to the rank before it, then to the one after it. `closed`: a
    torus."""

def random_neighbors(ranks: int, partners: int) -> list[list[int]]:
    """To whom each rank sends: to `partners` others, the same in every call."""

def worth_trying(problem: Problem) -> list[str]:
    """Specs that jobs try on their own calls besides the MPI's own."""

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
        """In a message: whether the receiver passes the block on."""

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
        """The round to which it belongs, for people."""
    @property
    def slots(self) -> list[Slot]: ...
    @property
    def after(self) -> list[int]:
        """The ids of the operations that must end before this one starts."""

@final
class Traffic:
    """What one rank sends."""

    @property
    def messages(self) -> int: ...
    @property
    def blocks(self) -> int: ...
    @property
    def metadata_messages(self) -> int:
        """Messages that announce at least one size."""
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
        """How many parts each block has, which travel apart."""
    @property
    def temp_slots(self) -> int: ...
    @property
    def temp_peak(self) -> int:
        """How many temp slots are in use at once, at most."""
    @property
    def full_metadata(self) -> bool:
        """Whether it announces the sizes of arriving blocks too."""
    @property
    def sent(self) -> Traffic: ...
    @property
    def memory(self) -> tuple[int, int]:
        """The bytes of the program, which is made once, and of what an exchange keeps while it runs, without the
        blocks."""
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
        """The operation's id in the program of the rank."""
    @property
    def text(self) -> str: ...

@final
class Steps:
    """Schedules followed step by step; str() gives one line a step, such as "1: 0->7:m0 3->4:m3"."""

    @property
    def fault(self) -> str | None:
        """What breaks the rules of steps, if anything does: a rank has one port, and sends nothing before it has it.
        After a fault the other figures mean nothing."""
    @property
    def count(self) -> int: ...
    @property
    def volume(self) -> float:
        """The largest transfer of each step, in blocks, added up."""
    @property
    def traffic(self) -> float:
        """All blocks moved."""

def follow_steps(programs: Sequence[Schedule], *, senders: int) -> Steps:
    """Follows the programs of ranks 0, 1, ... in an allgather between two groups."""

def check(programs: Sequence[Schedule], *, senders: int = 0) -> Fault | None:
    """The first fault of the programs of ranks 0, 1, ..., or None. senders > 0: they are those of an allgather between
    two groups."""

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
        """How many steps a digit has: step (digit, z) exists for z from 1 to this number."""
    def blocks_of_step(self, digit: int, z: int) -> int:
        """How many blocks a rank sends in step (digit, z): those whose offset has z as this digit."""
    @property
    def steps(self) -> int: ...
    @property
    def blocks(self) -> int: ...
    @property
    def passing_steps(self) -> int:
        """How many steps have a block that passes through."""
    @property
    def slot_bound(self) -> int:
        """How many offsets have blocks that ever pass through."""
    @property
    def peak_slots(self) -> int:
        """How many of these blocks a rank holds at once, at most."""

def square_radix(ranks: int) -> int:
    """The least radix, at least 2, with two digits for this number of ranks."""

@final
class Network:
    """Switches and machines, the links that join them to a tree, and where the ranks are. Until place_ranks() says
    otherwise, rank r is on the r-th machine in the natural order of names."""

    @property
    def ranks(self) -> int: ...
    @property
    def hosts(self) -> list[str]:
        """The machine of each rank."""
    @property
    def machines(self) -> list[str]: ...
    @property
    def nodes(self) -> list[tuple[str, bool]]:
        """The name of each node, and whether it is a machine."""
    @property
    def links(self) -> list[tuple[str, str, float]]:
        """The names of each link's two ends, and its bits per second."""
    def place_ranks(self, hosts: Sequence[str]) -> None:
        """Place rank r on hosts[r]. A name repeats if a machine has several ranks. A name's domain is ignored if the
        full name is unknown."""
    def choose_root(self, name: str) -> None:
        """Choose the root of the tree that schedules see, instead of the canonical root."""
    def problem(self) -> Problem:
        """An all-to-all among these ranks, for generate() with an algorithm that uses the switches."""
    def to_slurm(self) -> str:
        """The network as Slurm's topology.conf."""
    def to_edge_list(self) -> str:
        """The network as an edge list, which read_topology() reads."""

def read_topology(path: str) -> Network:
    """Read Slurm's topology.conf or topology.yaml, what scontrol show topology prints, or an edge list: lines such as
    "a b [bandwidth]", "switch NAME...", "machine NAME..."."""

def parse_topology(text: str, file: str = "topology") -> Network:
    """As read_topology(), from a text. `file` is the name in errors."""

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
        """How many messages of an all-to-all it carries in each direction."""
    @property
    def streams(self) -> int:
        """How many messages it carries at once, each at the rate of the slowest link."""
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
        """The node from which everything hangs: the root, if there are at least two ranks."""
    @property
    def roots(self) -> list[str]:
        """All nodes that may be the root, the canonical one first."""
    @property
    def groups(self) -> list[list[int]]: ...
    @property
    def links(self) -> list[TreeLink]:
        """The links that are cables, from the root down: not those inside a machine."""
    @property
    def bottleneck(self) -> TreeLink | None:
        """The link that takes longest in an all-to-all; None if no link carries anything."""
    @property
    def phases(self) -> int:
        """The fewest phases that an all-to-all can have. A phase lasts as long as one message on the slowest link."""
    @property
    def contending_pairs(self) -> int:
        """How many pairs of messages of different senders share a directed edge."""
    def seconds(self, bytes_per_block: int) -> float:
        """A lower bound: no all-to-all of equal blocks is faster."""
    def sized_seconds(self, sizes: Sequence[int]) -> float:
        """The same for blocks of known sizes in bytes, by sender and then receiver."""
    def contention(self, programs: Sequence[Schedule]) -> str | None:
        """The first step in which an edge carries more messages than its link has streams, or None."""

def bytes_on_wire(payload: int) -> int:
    """What `payload` bytes take on a link with the headers of TCP, IP and Ethernet: 1538 bytes for every 1448."""

@final
class ExchangePlan:
    """All messages of an all-to-all on a tree, by phases, and what keeps them apart."""

    @property
    def phases(self) -> list[list[int]]:
        """For each phase: [sender, receiver, sender, receiver, ...]."""
    @property
    def synchronisations(self) -> list[list[int]]:
        """For each synchronisation: phase, sender and receiver of a message, then those of the message that waits."""
    @property
    def candidates(self) -> int:
        """How many synchronisations between different senders there were, before those that others imply were left
        out."""
    def program(self, rank: int) -> Schedule:
        """The schedule of one rank, with whole blocks."""

def plan_exchange(tree: Tree, *, window: int = 1, sync: str = "auto") -> ExchangePlan:
    """Plan an all-to-all on the tree. The parameters are those of the algorithm `tree`."""

def plan_sizes(tree: Tree, sizes: Sequence[int], *, window: int = 1, sync: str = "auto") -> tuple[ExchangePlan, float]:
    """The plan for blocks of known sizes in bytes, by sender and then receiver, and the seconds that it should take."""

def emit_c(programs: Sequence[Schedule], title: str = "", hosts: Sequence[str] = ()) -> str:
    """A C file with an MPI_Alltoall that follows the programs of ranks 0, 1, ... on these hosts."""

def emit_goal(programs: Sequence[Schedule], block_bytes: int) -> str:
    """The programs as GOAL, the input of LogGOPSim."""

@final
class Choice:
    """What is chosen, and why. Seconds are 0 if they are not known; next is empty if there is no second candidate."""

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
        """`kinds`: the rows of each kind (alltoall, alltoallv), which are bytes of a block, and seconds by spec.
        `sparse`: the same for alltoallv if most blocks are empty."""
    @property
    def ranks(self) -> int: ...
    @property
    def mpi(self) -> str: ...
    @property
    def machine(self) -> str: ...
    @property
    def layout(self) -> str: ...
    def rows(self, kind: str) -> list[tuple[int, dict[str, float]]]:
        """Each row is the bytes of a block, and seconds by spec."""
    def sparse_rows(self) -> list[tuple[int, dict[str, float]]]:
        """The same for mostly empty exchanges with MPI_Alltoallv."""
    def choose(self, kind: str, block: float, empty: float = 0.0) -> Choice:
        """What to choose for blocks of `block` bytes; `empty` is the share of blocks that are empty."""
    def seconds(self, kind: str, spec: str, block: float, empty: float = 0.0) -> float:
        """What the spec took; between measured sizes, on straight lines. The other arguments are those of choose()."""

def read_profile(path: str) -> Profile:
    """Raises ValueError with the file, the line, what is wrong and what is expected."""

@final
class LevelLoad:
    """What a schedule asks of one level. Blocks to other nodes are those of all ranks of a node, which share its
    link."""

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
        """Blocks that are packed into messages of several blocks, or unpacked from them."""

def load_of(selection: Selection, problem: Problem) -> Load:
    """The load, counted from the schedules. Of more than 64 ranks only some are looked at."""

# Between two groups. `message`: bytes of the largest message. `link`: seconds to start a step, and for a byte of its
# largest transfer.

def steps_and_volume(selection: Selection, problem: Problem) -> tuple[int, float]:
    """How many steps an allgather takes, and the largest transfer of each step, in messages, added up."""

def seconds_between_groups(selection: Selection, problem: Problem, message: float, link: tuple[float, float]) -> float:
    """Seconds of an allgather by the model."""

def predict_between_groups(
    problem: Problem, network: str, message: float, link: tuple[float, float]
) -> list[tuple[str, float]]:
    """What may serve on a network such as "full" or "torus:4x8", fastest first: specs, and seconds by the model."""

# The link that jobs assume.
COMMON_LINK: tuple[float, float] = ...

@final
class EventMachine:
    """A machine for `simulate_events`, in seconds. `message`: what a message, and a byte of it, take of a rank's time
    at each end. `node`: the latency, and the time of a byte, inside a node. `link_latency` is that of every link,
    `link_per_byte` the time of a byte on each. `paths`: at a * nodes + b, the links from node a to node b."""

    def __init__(
        self, *, message: tuple[float, float], node: tuple[float, float], link_latency: float,
        link_per_byte: list[float], nodes: int, paths: list[list[int]],
    ) -> None: ...  # fmt: skip

def simulate_events(selection: Selection, problem: Problem, block: float, machine: EventMachine) -> float:
    """Seconds of an exchange of equal blocks of `block` bytes. It simulates every operation of every rank; messages
    queue at links. The ranks' schedules may differ only in the names of ranks."""

# The most ranks of a layout.
MOST_RANKS: int = ...

# The prices of a common machine: those of memory, node, network and groups, as best_levels takes them, and that of a
# byte copied.
COMMON_PRICES: tuple[tuple[tuple[float, float, float], ...], float] = ...

@final
class Setting:
    """What people can set: by an environment variable, by a line of the file that SHOAL_CONFIG names, and if it is a
    key, by the key shoal_NAME of an MPI_Info."""

    @property
    def name(self) -> str: ...
    @property
    def variable(self) -> str: ...
    @property
    def takes(self) -> str:
        """SPEC if it takes an algorithm; otherwise the values, or what kind of values."""
    @property
    def help(self) -> str: ...
    @property
    def is_key(self) -> bool: ...
    def require(self, value: str) -> None:
        """Raises ValueError with what is allowed, if this cannot be the value."""

def settings() -> list[Setting]:
    """All settings."""

def quota_cores(root: str = "/") -> int | None:
    """How many whole cores the control groups of this process allow, at least 1; None if they limit nothing. `root`:
    the folder that has /proc and /sys."""

def best_radices(ranks: int, *, per_digit: float, per_step: float, per_block: float) -> list[int]:
    """The radices of the digit system that costs least among all, lowest digit first; empty for one rank."""

def best_levels(problem: Problem, block: float, *, prices: list[tuple[float, float, float]], copy: float) -> str:
    """The hierarchical exchange that costs least on the levels of the problem, for blocks of this many bytes. `prices`:
    of memory, node, network and groups, the seconds for a wait, a message and a byte; `copy`: for a byte copied."""
