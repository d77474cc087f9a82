"""Checkpoints and the decoders that run them.

- `compiled/`: The decoder's operations for small models on a CPU, compiled.
- `graphs`: Decode steps that are recorded once and replayed on a GPU.
- `transformers_backend/`: Models of the transformers library, run on our key/value pool.
- `adapter`: Low-rank adapters, and the reading of their files.
- `batch_invariance`: A probe whether the bits of a row depend on the other rows of a batch, and
  the operations of a forward that it tries.
- `chat`: Renders chats as prompts; what a client writes never becomes a special token.
- `config`: What a checkpoint's config.json says about its decoder.
- `decoder`: The interface of a model, as the engine uses it, and the rows of one step as tensors.
- `dense`: A dense decoder (Llama, Mistral, Qwen2, Qwen3 shapes) that reads its keys and values
  from a paged pool.
- `device`: Where a model computes.
- `layer`: The weights of one layer of a dense decoder.
- `load`: Loads a checkpoint and chooses the backend that runs it.
- `plain_tokenizer`: Tokenizers that a tokenizer.json and few settings describe completely, and
  their chat templates.
- `runs`: The rows of one step as numbers: what each computes, and where its key and value are.
- `weights`: Reads the tensors of a checkpoint.
"""

from maskwright.model_options import BACKENDS, DEMO_PATH, DTYPES, Backend, Dtype, WeightDtype
from maskwright.models.adapter import Adapter, AdapterFile
from maskwright.models.batch_invariance import (
    BatchInvariance,
    LibraryOperations,
    Product,
    one_of_each_shape,
    probe_batch_invariance,
)
from maskwright.models.config import ARCHITECTURES
from maskwright.models.decoder import Decoder, ForwardBatch, lay_out
from maskwright.models.load import LoadedModel, load
from maskwright.models.runs import Run

__all__ = [
    "ARCHITECTURES",
    "BACKENDS",
    "DEMO_PATH",
    "DTYPES",
    "Adapter",
    "AdapterFile",
    "Backend",
    "BatchInvariance",
    "Decoder",
    "Dtype",
    "ForwardBatch",
    "LibraryOperations",
    "LoadedModel",
    "Product",
    "Run",
    "WeightDtype",
    "lay_out",
    "load",
    "one_of_each_shape",
    "probe_batch_invariance",
]
