"""The command `serve`: its options, and what it starts.

Options are checked before torch is imported, so that a mistake is reported at once.

- `serve`: The settings of the command that no other part has.
- `serve_work`: Checks what can be checked without torch, and starts one engine or several.
- `start`: Starts the engine and the server. Imports torch.
- `warm_up`: A first answer, and the greeting that shows how to ask for one.
"""
