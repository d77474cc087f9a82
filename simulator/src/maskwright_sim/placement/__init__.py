"""Placement of prefill and decode on devices, for given objectives.

- `rates`: The highest rate of requests that one instance serves within the objectives.
- `request`: A question about placement as one file, and its answer.
- `search`: Which parallelism and how many instances of each phase.
"""
