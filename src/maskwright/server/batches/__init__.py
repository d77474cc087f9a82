"""OpenAI's files and batches, kept in a folder of the local disk.

- `batch_routes`: The endpoints of batches.
- `batch_store`: The batches in the folder.
- `batch_worker`: Runs batches, and continues them after a restart.
- `batching`: Files and batches of one server: what it opens, starts and stops.
- `file_routes`: The endpoints of files.
- `file_store`: The files in the folder.
- `pages`: Pages of a list, as OpenAI's clients ask for them.
"""
