"""Several simulated engines on one clock.

- `clock`: Events in the order of their times.
- `driver`: Runs the steps of one engine on the clock.
- `fleet`: Engines behind a routing policy, each of which serves whole requests.
- `routing`: Which engine a request goes to.
- `split`: Engines that compute prompts, and engines that decode.
- `transfer`: How long keys and values take from one to the other.
"""
