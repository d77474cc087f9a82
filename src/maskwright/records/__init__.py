"""Many requests as one piece of work: what is done is kept on disk, and survives a kill.

- `batch_lines`: Lines of OpenAI's batch files: requests and their results.
- `journal`: An append-only file of JSON lines that survives a kill at any moment.
- `workers`: Runs work for each item, several at a time.
"""
