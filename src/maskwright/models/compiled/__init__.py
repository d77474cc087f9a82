"""The decoder's operations for one CPU thread and small models, compiled.

Every sum has its order written down: in a product one number after the other, elsewhere in lanes
that are added by halves. So a row's bits can't depend on what is computed beside it.
"""
