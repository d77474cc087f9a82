"""The router over HTTP: one address in front of several servers.

- `app`: The application: which requests go where, and what the router itself answers.
- `asked`: What the router reads of a request, and errors in OpenAI's form.
- `fleet`: All workers: their checks, the choice among them, and their metrics.
- `relay`: A stream passed through, and continued by another worker if its worker is lost.
- `wire`: A client of HTTP/1.1 for one worker.
- `worker`: What the router knows of one worker.
"""
