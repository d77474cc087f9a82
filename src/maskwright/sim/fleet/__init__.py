"""Several simulated engines on one clock.

- `clock`: Events in the order of their times.
- `fleet`: Engines behind a routing policy, each of which serves whole requests.
- `routing`: Which engine a request goes to.
"""
