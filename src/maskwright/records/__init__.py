"""Many requests as one piece of work: what is done is kept on disk, and survives a kill.

- `batch_lines`: Lines of OpenAI's batch files: requests and their results.
- `group_commit`: Appends lines of many tasks to a journal, with few synchronisations.
- `journal`: An append-only file of JSON lines that survives a kill at any moment.
- `replaced_file`: Replaces a small file as a whole.
- `workers`: Runs work for each item, several at a time.
"""
