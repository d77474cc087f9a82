"""OpenAI's files and batches, kept in a folder of the local disk.

- `batch_routes`: The endpoints of files and batches, and what a server opens and stops for them.
- `batch_worker`: Runs batches, and continues them after a restart.
- `stores`: The files and the batches in the folder.
"""
