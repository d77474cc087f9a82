"""A discrete-event simulation of engines and fleets: the real scheduler, pool, prefix tree, gate
and router under a simulated clock, with a cost model in place of the model.

- `cli/`: The commands `simulate` and `place`.
- `costs/`: How long a step takes: a line, a data sheet, and a fit to measured steps.
- `engine/`: One engine on the simulated clock.
- `fleet/`: Several simulated engines on one clock.
- `load/`: The requests of a simulation: generated workloads and traces.
- `outcome/`: What came of a simulation: figures and pictures.
- `placement/`: Which parallelism and how many instances serve a load within objectives.
- `policy/`: Schedulers of other systems beside ours.
- `systems/`: The mechanisms of other systems, each with and without it.
- `scenario`: A simulation as one file.
- `settings`: Settings in files. Every mistake in them is named.
"""
