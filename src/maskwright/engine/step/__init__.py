"""One step of the engine, and the thread that runs step after step.

- `batch`: From a plan to the tensors of a forward.
- `core`: The engine without its thread: one call is one step.
- `loop`: The engine's thread, its inbox and its public class.
- `post_step`: What happens to requests between two tokens, inline or in a thread.
- `runner`: Runs the forward and samples the rows.
"""
