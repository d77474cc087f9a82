"""What traces of requests say about a server, for `maskwright diagnose`. Needs no torch.

- `arrivals`: Little's law on traces: arrivals, times and how many are in the system.
- `diagnosis`: Which stage makes the slowest requests slow.
- `diagnosis_chart`: Where the time of the slowest requests went, as a chart.
- `stages`: The times of one request, divided into stages that add up.
- `trace_file`: Reads the file that `serve --trace` writes.
"""
