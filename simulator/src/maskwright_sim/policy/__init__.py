"""Schedulers of other systems beside ours, over the same pool, tables and prefix tree, so that one
load compares them.

- `batching`: Which sequences and tokens form a step: static batches, Orca, prefill first,
  SplitFuse, Sarathi.
- `choice`: Names of policies, and the scheduler that each name stands for.
- `order`: Which waiting sequence is next.
- `policy_scheduler`: A scheduler made of a batching, an order and a way to preempt.
"""
