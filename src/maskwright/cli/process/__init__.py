"""What a command sets up for its whole process: environment, garbage collection, the log.

- `bounded_http`: The HTTP of servers and routers, with bounds.
- `chats`: Chats with a server: requests for streams, and the text that comes.
- `collector`: When Python's garbage collector runs in a server.
- `draining`: The HTTP server of `serve` and `route`: how it begins and ends.
- `environment`: The environment of the process, as it must be before torch is loaded.
- `listening`: The socket of a server, keys of its clients, and TLS.
- `logs`: The log of `serve`, as text or as JSON.
- `reaching`: How commands reach a server: trust, and what is said if none answers.
- `watching`: Doing something again whenever files change.
"""
