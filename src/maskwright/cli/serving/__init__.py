"""The command `serve`: its options, and what it starts.

Options are checked before torch is imported, so that a mistake is reported at once.

To add a setting, give a field with its group and description to the class of what needs it:
`serve.ServeOptions`, `engine.config.EngineConfig` (whose `_check` takes what it doesn't know for a
positive integer, and which has a row for each in `tests/engine/test_config.py`), or
`server.config.ServerConfig`. `engine/step/loop.py` and `start` hand them on one by one. What
changes tokens also belongs into `identity_of` there, or answers before and after have one
fingerprint. Then run `tools/settings_page.py`.

- `serve`: The settings of the command that no other part has.
- `serve_work`: Checks what can be checked without torch, and starts one engine or several.
- `start`: Starts the engine and the server. Imports torch.
"""
