"""The router over HTTP: one address in front of several servers.

- `app`: The application: which requests go where, and what the router itself answers.
- `asked`: What the router reads of a request.
- `connection`: A connection to a worker.
- `errors`: Errors of the router in OpenAI's form.
- `fleet`: All workers: their checks, and the choice among them.
- `front_metrics`: The router's metrics, and those of its workers with their names.
- `gathered`: One page asked of all workers.
- `interrupt`: What ends the work of a request before its end.
- `relay`: A stream passed through, and continued by another worker if its worker is lost.
- `remembered`: What the router remembers of prompts, by worker and by store.
- `split`: A request whose prompt one worker computes, and whose answer another one gives.
- `wire`: A client of HTTP/1.1 for one worker.
- `worker`: What the router knows of one worker.
"""
