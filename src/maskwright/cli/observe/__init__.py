"""The commands that look at a server, running or by its traces. They need no torch.

- `diagnose`: The command `diagnose`: say what makes the slowest requests slow.
- `status`: The command `status`: say what a running server does now.
"""
