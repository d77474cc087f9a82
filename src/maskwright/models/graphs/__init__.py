"""Decode steps that are recorded once and replayed: CUDA graphs.

Launching the kernels of a small step takes the host longer than they run. A recorded step is
launched as a whole. It reads its rows from memory that never moves, so a step is recorded for each
of a few shapes, and a batch runs in the smallest shape that holds it.

- `buffers`: The memory from which recorded steps read their rows.
- `decode`: The recorded steps of a model, and which batches they can run.
- `recorder`: Records a function on a GPU.
- `shapes`: The shapes for which steps are recorded.
"""

from maskwright.models.graphs.buffers import StepBuffers
from maskwright.models.graphs.decode import DecodeGraphs
from maskwright.models.graphs.recorder import Recorder, find_recorder
from maskwright.models.graphs.shapes import MOST_ROWS, GraphShape, choose, graph_shapes

__all__ = [
    "MOST_ROWS",
    "DecodeGraphs",
    "GraphShape",
    "Recorder",
    "StepBuffers",
    "choose",
    "find_recorder",
    "graph_shapes",
]
