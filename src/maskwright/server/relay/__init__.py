"""Answers that are begun by one server and continued by another.

- `continuation`: What the first server tells, and what the second one gets.
"""
