"""One step of the engine, and the thread that runs step after step.

- `batch`: The tensors of one step, from its plan.
- `core`: The engine without its thread.
- `loop`: The engine.
- `post_step`: What is done for requests between two tokens.
- `runner`: The forward.
"""
