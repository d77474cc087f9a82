"""The options of `serve` about the model and the engine, a type a parameter."""

from __future__ import annotations

from typing import Annotated

from maskwright import model_options
from maskwright.cli.arguments import Option
from maskwright.cli.options import (
    BACKEND_HELP,
    CACHE_HELP,
    DEVICE_HELP,
    DTYPE_HELP,
    MODEL_HELP,
    WEIGHT_DTYPE_HELP,
)
from maskwright.engine.tiers import eviction_order
from maskwright.kernels import kv_bytes

Model = Annotated[str, Option(help=MODEL_HELP, show_default="the demo model")]
Backend = Annotated[model_options.Backend, Option(help=BACKEND_HELP)]
Device = Annotated[str, Option(help=DEVICE_HELP)]
Dtype = Annotated[model_options.Dtype, Option(help=DTYPE_HELP)]
WeightDtype = Annotated[model_options.WeightDtype, Option(help=WEIGHT_DTYPE_HELP)]
Adapter = Annotated[
    list[str],
    Option(
        help="A LoRA adapter in FOLDER, for requests whose model is NAME. May be repeated.",
        metavar="NAME=FOLDER",
    ),
]
AdapterBytes = Annotated[
    int,
    Option(
        is_size=True,
        help="Memory for adapters. Where it is full, the least recently used is dropped.",
    ),
]
Replicas = Annotated[
    int,
    Option(
        least=1,
        help="Engines, each in a process of its own, after one address; requests with equal "
        "beginnings go to one of them, and one that ends is replaced.",
    ),
]
OnRay = Annotated[
    bool,
    Option(
        help="Run the replicas in actors of a Ray cluster: of the one that RAY_ADDRESS names, else "
        "of one that is started on this machine. Needs the extra `ray`."
    ),
]
Prefill = Annotated[
    int,
    Option(
        least=0,
        help="Of the replicas, how many only compute prompts and hand requests over to those of "
        "--decode.",
    ),
]
Decode = Annotated[
    int, Option(least=0, help="Of the replicas, how many answer what those of --prefill begin.")
]
BlockSize = Annotated[int, Option(help="Positions in a block of the key/value pool.")]
KvBytes = Annotated[
    int, Option(is_size=True, help="Memory for keys and values, such as 512MiB or 2GB.")
]
MemoryFraction = Annotated[
    float | None,
    Option(
        help="Share of the machine's memory, between 0 and 1, for weights, workspace, keys and "
        "values together; it replaces --kv-bytes."
    ),
]
Blocks = Annotated[
    int | None,
    Option(help="Number of blocks of keys and values. Default: what the memory holds."),
]
KvDtype = Annotated[
    kv_bytes.KvDtype,
    Option(
        help="Data type of keys and values: 'auto' is the model's own, the others are codes of "
        "eight bits."
    ),
]
PrefixCache = Annotated[
    bool, Option(help="Reuse keys and values where prompts begin with the same tokens.")
]
KvHostBytes = Annotated[
    int,
    Option(
        is_size=True,
        help="Host memory for blocks of keys and values that the prefix cache has no room for; 0 "
        "for none.",
    ),
]
KvDisk = Annotated[
    str | None,
    Option(
        metavar="FOLDER",
        help="Folder for blocks that memory has no room for, and for those of ended requests. "
        "Servers of one machine may share it, and it outlasts them.",
    ),
]
KvDiskBytes = Annotated[
    int, Option(is_size=True, help="Most bytes of the files in the folder of --kv-disk.")
]
KvPolicy = Annotated[
    eviction_order.StorePolicy,
    Option(
        help="Which block of a full store goes next: the one not used for longest (lru), or the "
        "one used least often (lfu)."
    ),
]
SwapBytes = Annotated[
    int,
    Option(is_size=True, help="Host memory for the blocks of preempted requests."),
]
MaxRunning = Annotated[int, Option(help="Most requests in a step.")]
MaxBatchTokens = Annotated[
    int, Option(help="Most tokens in a step; longer prompts are computed in chunks.")
]
Stall = Annotated[
    float | None,
    Option(help="Longest step that computes prompts, in multiples of a step of decodes alone."),
]
MaxWaiting = Annotated[
    int, Option(help="Most requests in the queue; further ones are answered 429.")
]
Ttft = Annotated[
    list[str],
    Option(
        help="Objective of a class of service: a request whose first token would take more "
        "than SECONDS is answered 429.",
        metavar="CLASS=SECONDS",
    ),
]
Tpot = Annotated[
    list[str],
    Option(
        help="Objective of a class of service: a request whose further tokens would take more "
        "than SECONDS each is answered 429.",
        metavar="CLASS=SECONDS",
    ),
]
MaxContext = Annotated[
    int | None,
    Option(help="Most tokens of prompt and answer together. Default: the model's limit."),
]
Canonical = Annotated[
    bool,
    Option(help="Write text that the grammar forces without asking the model for it."),
]
Drafts = Annotated[
    int,
    Option(help="Most drafted tokens of a request in a step; 0 for no drafts."),
]
DraftModel = Annotated[
    str | None,
    Option(
        help="Folder or hub id of a smaller model that drafts tokens, with the same vocabulary."
    ),
]
Overlap = Annotated[bool, Option(help="Compute masks and texts while the model computes.")]
DeviceSteps = Annotated[
    int,
    Option(
        help="Most decode steps in a row that the device computes by itself where all running "
        "requests allow that; 1 for none."
    ),
]
ReaderTokens = Annotated[
    int, Option(help="Tokens that a reader may be behind before its request is paused.")
]
ReaderSeconds = Annotated[float, Option(help="Seconds after which a paused request is ended.")]
GrammarProcesses = Annotated[
    int,
    Option(
        least=0,
        help="Processes that compute masks, which most grammars share, beside one in which "
        "new grammars begin. With 0 the engine's process does so itself.",
    ),
]
ShapeSeconds = Annotated[
    float,
    Option(
        least=0.1,
        help="Most processor time to compile a grammar that has a process of its own, and "
        "for the masks of one answer.",
    ),
]
ShapeBytes = Annotated[
    int,
    Option(
        is_size=True,
        least=1 << 20,
        help="Most memory of a grammar that has a process of its own.",
    ),
]
Graphs = Annotated[
    bool, Option(help="On a GPU, record decode steps as CUDA graphs at the start, and replay them.")
]
Threads = Annotated[
    int | None,
    Option(help="CPU threads of the model. Default: one for a small model, else torch's choice."),
]
Cache = Annotated[str, Option(envvar="MASKWRIGHT_CACHE", help=CACHE_HELP)]
