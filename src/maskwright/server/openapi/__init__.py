"""The description of the API as an OpenAPI document.

Bodies of requests come from their models in `server/request`; answers are described here.
`tests/server/openapi/` holds the descriptions against the readers of requests, in both directions,
and against the answers of the server.

- `answer_schemas`: The answers of each protocol, whole and streamed.
- `builders`: JSON Schemas of a few kinds, in one line each.
- `document`: The whole document, for the routes of an application, and its endpoint.
- `operations`: What each method of each path takes and answers; errors.
- `service_schemas`: The answers that are no generated text: server, files, shapes.
"""
