"""The scheduler: which sequences run in the next step, with how many tokens and which blocks.

Nothing here imports torch or reads a clock, so that a simulator runs the same classes.

- `batch_work`: What the scheduler does for each sequence of a step, all in one call.
- `chunk`: The part of a step that belongs to one sequence.
- `plan`: The plan of one step, which the scheduler makes and the runner carries out.
- `scheduler`: Chooses the tokens of each sequence for the next forward.
- `sequence`: The scheduler's view of one generation: its tokens and how many are computed.
- `service`: Service classes, their weights, and fair shares by token counters.
- `step_time`: A model of a step's time, which bounds the prompt tokens computed together with
  decodes.
- `tables`: The block tables of sequences: allocation, prefix-cache hits, swapping and release.
- `transfer`: Copies of blocks between the pools that go on beside steps.
- `view`: What a scheduler holds at a moment: blocks, cached prefixes, queues, live requests.
- `waiting`: The queue of waiting sequences and its order.
"""
