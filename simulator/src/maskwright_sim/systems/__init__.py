"""The mechanisms of other systems, each simulated with and without it on one load.

- `claim`: What a mechanism is worth: a figure with it and without it.
- `distserve`: Prefill and decode on different machines.
- `listed`: The names of the systems, without the systems.
- `memserve`: A prefix cache across prefill and decode.
- `mooncake`: Scheduling by cache and load, and early refusal.
- `mooncake_kv`: Copies of hot blocks, tiers of memory, and prompts on several machines.
- `names`: The systems by name.
- `orca`: Iteration-level scheduling against static batches, and pipelined workers.
- `rtp_llm`: Settings for each phase: devices, weights, numbers of instances.
- `sarathi`: Chunked prompts: Sarathi's and FastGen's steps against whole prompts.
- `sglang`: The prefix tree, and what uses it: order and routing.
- `splitwise`: Phases on unlike machines, transfers layer by layer, and a mixed pool.
- `tensorrt_llm`: In-flight batching, and memory reserved or taken as answers grow.
- `tetriinfer`: Prompts in chunks apart from answers, which are placed by predicted length.
- `vllm`: Paged blocks and preemption against reserved memory.
"""
