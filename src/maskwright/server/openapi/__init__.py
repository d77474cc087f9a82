"""The description of the API as an OpenAPI document.

Bodies of requests come from their models in `server/request`; answers are described here.
`tests/server/openapi/` holds the descriptions against the readers of requests, in both directions,
and against the answers of the server.

- `answer_schemas`: The answers of each protocol, whole and streamed, and all other answers.
- `document`: What each method of each path takes and answers, the document, and its endpoint.
"""
