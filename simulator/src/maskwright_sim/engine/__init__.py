"""One engine on the simulated clock.

- `simulated_engine`: The scheduler's own decisions over answers that are known beforehand.
- `step_times`: Models of step times that know the simulated costs.
"""
