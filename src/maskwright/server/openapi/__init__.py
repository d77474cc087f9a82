"""The description of the API as an OpenAPI document.

Bodies of requests come from their models in `server/request`; answers are described here.
`tests/server/openapi/` holds the descriptions against the readers of requests, in both directions,
and against the answers of the server.

- `anthropic_schemas`: Anthropic's protocol: its answers, and the events of its streams.
- `answer_schemas`: The answers of chat completions and text completions, whole and streamed.
- `batch_schemas`: Files and batches.
- `builders`: JSON Schemas of a few kinds, in one line each.
- `document`: The whole document, for the routes of an application.
- `document_route`: The endpoint that serves it.
- `error_schemas`: The error object, and its codes by status.
- `operations`: What each method of each path takes and answers.
- `request_schemas`: The bodies of all requests, from their models.
- `response_schemas`: The answers of the responses protocol, and the events of their streams.
- `service_schemas`: The endpoints that describe the server and its tokens.
- `workbench_schemas`: The endpoints about shapes themselves, and explanations.
"""
