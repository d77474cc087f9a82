"""Asks a server about thousands of records, for `maskwright batch`.

- `answer_check`: Checks an answer under its schema.
- `batch_file`: A file in OpenAI's batch format as work.
- `given_work`: What the options of the command say of its work.
- `parquet`: Reads and writes Parquet files with pyarrow, an extra.
- `progress_bar`: A progress bar on a terminal.
- `prompt_template`: The prompt of a record.
- `run`: The run: asks for what is not done yet, and keeps each result.
- `run_report`: What a run has done: counts, throughput, cost.
- `sender`: Sends requests, and repeats those that failed by chance.
- `sources`: Reads records from JSON lines, CSV, Parquet, or a folder of texts.
- `work`: A piece of work: what is asked about one record, and what comes of it.
"""
