"""The mechanisms of other systems, each simulated with and without it on one load.

- `claim`: What a mechanism is worth: a figure with it and without it.
- `distserve`: Prefill and decode on different machines.
- `names`: The systems by name.
- `orca`: Iteration-level scheduling against static batches.
- `sarathi`: Chunked prompts: Sarathi's and FastGen's steps against whole prompts.
- `sglang`: The prefix tree, and what uses it: order and routing.
- `vllm`: Paged blocks and preemption against reserved memory.
"""
