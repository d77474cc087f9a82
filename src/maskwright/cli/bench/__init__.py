"""The commands that measure: `maskwright bench`, `maskwright bench serve`.

- `client`: Which requests are sent at which times, and how the requests of one rate ended.
- `options`: The options of both.
- `serve`: The command `bench serve`: measure a running server under load.
- `shape`: The command `bench`: measure what a shape costs, here and with other engines.
"""
