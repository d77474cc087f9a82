"""What came of a simulation.

- `figures`: Percentiles, throughput, goodput and use of a run, as one row of a table.
- `highest_rate`: The highest rate at which a load is served well enough.
- `picture`: Runs drawn as SVG.
- `served`: What became of one request.
"""
