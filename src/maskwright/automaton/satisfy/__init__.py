"""Whether a schema has instances, and a short one of each.

- `assignment`: The cheapest way to give each of several places a value of its own.
- `counts`: How many values there are at least.
- `distinct`: The shortest items of an array that must all differ.
- `quick`: Whether it shows at a glance that there is a value.
- `repeats`: The shortest items of an array in which some two must be equal.
- `shortest`: Shortest values.
"""
