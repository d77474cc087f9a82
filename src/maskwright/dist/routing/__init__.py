"""The choice of a replica for a request. It imports no torch, reads no clock and keeps no state, so
that the router of a running cluster and a simulator call one function.

    from maskwright.dist.routing.replica_state import ReplicaState, RouteRequest
    from maskwright.dist.routing.router import Router

    decision = Router().route(request, states, now)

`route` takes a `RouteRequest`, the `ReplicaState` of every replica, and the time `now` on the clock
of the request's deadline. It returns a `Decision`: the name of the replica, or None with the reason
and the time after which to try again. Equal arguments give equal decisions: randomness is derived
from the id of the request.

1. *Feasibility*: a replica must be able to serve the request at all (health, role,
   model, adapter, context, blocks, queue), and is preferred if it has free blocks for the prompt
   and the reserved answer now. Of replicas of unlike size, the large ones are kept for the requests
   that need them.
2. *Estimate*: the seconds until the first token at each of them, from the tokens that
   wait there, the part of the prompt that is not in its cache, the grammar and the adapter.
3. *Choice*: of the replicas that meet the deadline, the one with the lowest estimate.
   Where no replica knows more of the request than another, two replicas are drawn and the less
   loaded one is taken (power of two choices).

- `replica_state`: What the router knows of a request and of each replica, and what it answers.
- `router`: The router: feasibility first, then the lowest estimate; a replica in turn, to compare
  it with; and the pair of replicas that compute prompt and answer apart.
"""
