"""One step of the engine, and the thread that runs step after step.

- `batch`: Builds the tensors of a forward from a plan.
- `core`: The engine without its thread: one call is one step.
- `loop`: The engine's thread, its inbox and its public class.
- `post_step`: The work that follows a step for each request, inline or in a thread.
- `runner`: Runs the forward and samples the rows.
"""
