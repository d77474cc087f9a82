"""Asks a server about thousands of records, for `maskwright batch`.

- `batch_file`: A file in OpenAI's batch format as work.
- `given_work`: What the options of the command say of its work, and the prompt of a record.
- `parquet`: Reads and writes Parquet files with pyarrow, an extra.
- `run`: The run: asks for what is not done yet, repeats what failed, and keeps each result.
- `run_report`: What a run has done: counts, throughput, cost; and a progress bar.
- `sources`: Reads records from JSON lines, CSV, Parquet, or a folder of texts.
- `work`: A piece of work: what is asked about one record, and what comes of it; the check of it.
"""
