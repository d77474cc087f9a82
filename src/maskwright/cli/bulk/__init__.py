"""Asks a server about thousands of records, for `maskwright batch`.

- `batch_file`: A file in OpenAI's batch format as work.
- `given_work`: What the options of the command say of its work, and the prompt of a record.
- `run`: The run: asks for what is not done yet, repeats what failed, keeps and counts results.
- `sources`: Reads records from JSON lines, CSV, Parquet (which it writes, too) or a folder.
- `work`: A piece of work: what is asked about one record, and what comes of it; the check of it.
"""
