"""OpenAI's files and batches, kept in a folder of the local disk.

- `app_calls`: Calls the application in this process, as a client would.
- `batch_routes`: The endpoints of batches.
- `batch_store`: The batches in the folder.
- `batch_worker`: Runs batches, and goes on with them after a restart.
- `batching`: Files and batches of one server: what it opens, starts and stops.
- `file_routes`: The endpoints of files.
- `file_store`: The files in the folder.
- `input_check`: Checks the input of a batch before anything is asked.
- `pages`: Pages of a list, as OpenAI's clients ask for them.
- `upload`: Reads a file from a form (`multipart/form-data`).
"""
