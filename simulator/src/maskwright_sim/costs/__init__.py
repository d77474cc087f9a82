"""Cost models: the seconds of a step as a function of its work.

- `fit`: Costs fitted to measured steps by least squares, with the error of the fit.
- `linear`: Seconds as a linear function of the tokens of a step.
- `sheet`: Seconds from the data sheets of a device and a model.
- `work`: The work of one step, which every cost model reads.
"""
