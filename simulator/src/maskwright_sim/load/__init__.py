"""The requests of a simulation.

- `demand`: One request, and how requests are made from lengths.
- `traces`: Readers of public trace formats: Azure's CSV and Mooncake's JSON Lines.
- `workloads`: Generated workloads: arrivals, lengths, shared prefixes, conversations.
"""
