"""Several simulated engines on one clock.

- `clock`: Events in the order of their times.
- `driver`: Runs the steps of one engine on the clock.
- `fleet`: Engines behind a routing policy. Each of them serves whole requests.
- `loads`: What an engine has to do, and what it has in its cache.
- `phase_pools`: A pool of engines for each phase, with settings of its own.
- `pools`: Machines that change what they do: a mixed pool, and a flip between the phases.
- `routing`: Which engine a request goes to.
- `split`: Engines that compute prompts, and engines that decode.
- `store`: Keys and values that engines fetch from each other, or from memory and disks.
- `transfer`: How long keys and values take from one to the other.
"""
