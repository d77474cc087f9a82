"""The description of the API as an OpenAPI document, made from what the parser of requests reads.

Names, bounds and refused fields come from the tables of `server/request`. What the parser holds in
code is described here; `tests/server/openapi/` holds the descriptions against the parser, in both
directions, and against the answers of the server.

- `anthropic_schemas`: Anthropic's protocol: its requests, its answers, the events of its streams.
- `answer_schemas`: The answers of chat completions and text completions, whole and streamed.
- `batch_schemas`: Files and batches.
- `builders`: JSON Schemas of a few kinds, in one line each.
- `document`: The whole document, for the routes of an application.
- `document_route`: The endpoint that serves it.
- `error_schemas`: The error object, and its codes by status.
- `message_schemas`: The conversation: messages, and the items of the responses protocol.
- `operations`: What each method of each path takes and answers.
- `request_schemas`: The bodies of the requests that generate answers.
- `response_schemas`: The answers of the responses protocol, and the events of their streams.
- `sampling_schemas`: The fields that every generating endpoint has.
- `service_schemas`: The endpoints that describe the server and its tokens.
- `shape_schemas`: The fields that may contain a shape.
- `tool_schemas`: Tools, the choice among them, and calls of them.
- `workbench_schemas`: The endpoints about shapes themselves, and explanations.
"""
