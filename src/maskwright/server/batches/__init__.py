"""OpenAI's files and batches, kept in a folder of the local disk.

- `batch_routes`: The endpoints of batches.
- `batch_worker`: Runs batches, and continues them after a restart.
- `batching`: Files and batches of one server: what it opens, starts and stops.
- `file_routes`: The endpoints of files.
- `pages`: Pages of a list, as OpenAI's clients ask for them.
- `stores`: The files and the batches in the folder.
"""
