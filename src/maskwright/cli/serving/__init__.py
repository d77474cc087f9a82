"""The command `serve`: its options, and what it starts.

Options are checked before torch is imported, so that a mistake is told at once.

- `engine_options`: The options about the model and the engine.
- `option_checks`: Options that aren't settings as they are given: adapters, objectives, replicas.
- `serve`: The command: checks its options, and starts what they ask for.
- `server_options`: The options about HTTP, clients, traces and the log.
- `settings`: What is started, as the checked options say it.
- `start`: Starts the engine and the server. Imports torch.
- `trace_sinks`: The places to which `serve` sends traces.
- `warm_up`: A first answer, and the greeting that shows how to ask for one.
"""
