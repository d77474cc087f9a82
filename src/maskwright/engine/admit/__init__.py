"""Admission: which requests enter the queue, which wait for a grammar, which are refused early.

- `admission`: Checks that a request can be served at all, and makes its sequence.
- `compiling`: Requests that wait for a grammar that is being compiled.
- `gate`: Refuses requests that would miss an objective of their service class.
"""
