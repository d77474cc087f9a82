"""What came of a simulation.

- `figures`: Percentiles, throughput, goodput and use of a run, as one row of a table.
- `picture`: Runs drawn as SVG or PNG.
- `served`: What became of one request.
"""
