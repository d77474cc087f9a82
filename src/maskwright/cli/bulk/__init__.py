"""Asks a server about thousands of records, for `maskwright batch`.

- `batch_file`: A file in OpenAI's batch format as work.
- `run`: The run: asks for what is not done yet, repeats what failed, keeps and counts results.
- `sources`: Reads records from JSON lines, CSV, Parquet (which it writes, too) or a folder.
- `work`: A piece of work: what options have asked about one record, what comes of it, its check.
"""
