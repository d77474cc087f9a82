"""What is let in, what waits and what is refused before it costs anything.

- `admission`: What a request must fulfil before it may queue, and its way into an active one.
- `compiling`: Requests whose grammar is still being compiled, in a place of their own.
- `forecast`: When a request would have its first token, and how fast the others would come.
- `gate`: Early refusal.
- `history`: What the last requests of one class were like, and what may be expected of the next.
"""
