"""Which sequences run in the next step, with how many tokens and which blocks.

- `plan`: What one step does, as the scheduler decides it and the runner carries it out.
- `scheduler`: Which tokens of which sequences the next forward computes.
- `sequence`: One request while the engine works on it, as far as the scheduler needs to know it.
- `service`: Classes of service.
- `step_time`: How many tokens a step may compute, so that prompts don't make those who decode
  wait.
- `tables`: The blocks of sequences.
- `waiting`: The waiting sequences, and the order in which they should be admitted.
"""
