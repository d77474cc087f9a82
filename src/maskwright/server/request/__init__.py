"""From the bytes of a body to a typed request.

Bodies are models of pydantic: a field is declared once, with its type, bounds, default and
description, from which the document of the API is made. To add a field that every endpoint has, add
it to `GeneratingRequest` in `sampling_fields`, and obey it in `options` there, or in `reply` if it
changes only what is sent back; one of chats only belongs into `completion_requests`, or into the
module of its subject. A sampling parameter needs a field in `sampling/params.py`. Others become a
field of `GenerationOptions` or `ReplyOptions` in `answer_request`, from which `server/starter.py`
takes it; what the engine must know is a field of `engine/request/request.py`, with a value in
`tests/dist/handoff/test_request_record.py`. Add a row to docs/api.md.

A field that would change the answer and is not obeyed belongs in `_REFUSED` of `sampling_fields`.
One that is obeyed from now on leaves it, and `python -m tests.server.request.test_pinned_refusals`
writes anew what is refused.

- `anthropic_request`: The body of POST /v1/messages.
- `answer_request`: What a client asks for, whichever endpoint it used; the field `maskwright`.
- `body`: Reads and checks the body of an HTTP request.
- `completion_requests`: The bodies of POST /v1/chat/completions and /v1/completions.
- `messages`: The conversation, as clients send it and for chat templates, and their variables.
- `model`: The base of all models, types with bounds, and errors in our words.
- `response_request`: The body of POST /v1/responses.
- `sampling_fields`: The fields that every endpoint has, and those that are refused everywhere.
- `sent_tools`: Tools as clients send them, described.
- `shape`: The shape of the answer, and the fields that can ask for one.
- `tool_use`: The fields `tools`, `tool_choice` and `parallel_tool_calls`.
"""
