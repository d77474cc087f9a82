"""One step of the engine, and the thread that runs step after step.

- `batch`: The runs of tokens that the plan of a step has the model compute.
- `calls`: Work of other threads that is done between two steps.
- `core`: The engine without its thread: one call is one step.
- `exchange`: Blocks of a prefix that leave the engine and enter it.
- `flights`: Steps that have been launched, and whose tokens are still to be read.
- `loop`: The engine's thread, its inbox and its public class.
- `plain_rows`: The rows of a step that ask for nothing rare, all at once.
- `post_step`: The work that follows a step for each request, inline or in a thread.
- `rare_rows`: The other rows, one by one, and those that wait for their masks.
- `runner`: Runs the forward and samples the rows.
- `tiering`: Blocks that leave the pool for host memory and disk, and come back.
"""
