"""From the bytes of a body to a typed request.

To add a field that every endpoint has, add its name to `SAMPLING_FIELDS` and read it in
`sampling_fields`; one of chats only is added to `OBEYED` and read in `protocol` (or in the module
of its subject). Describe it in `server/openapi/`. A sampling parameter also needs a field in
`sampling/params.py`. Add a row to docs/api.md. A field that would change the answer and is not
obeyed belongs in `refusals`.

- `anthropic_request`: The body of POST /v1/messages.
- `answer_request`: What a client asks for, whichever endpoint it used.
- `body`: Reads and checks the body of an HTTP request.
- `chat_prompt`: The fields that make the prompt of a chat.
- `explain_request`: The body of POST /v1/explain.
- `fields`: Reads a JSON object field by field, each with its type and bounds.
- `input_items`: The input of POST /v1/responses as the messages of a conversation.
- `messages`: The conversation, as a typed tree and in the form for chat templates.
- `own_options`: The field `maskwright`.
- `protocol`: The body of POST /v1/chat/completions.
- `refusals`: Fields that would change the answer and are not obeyed.
- `response_request`: The body of POST /v1/responses.
- `sampling_fields`: The fields that every endpoint has: how answers are generated.
- `shape`: The shape of the answer, from each field that can ask for one.
- `text_request`: The body of POST /v1/completions.
- `tool_use`: The fields `tools`, `tool_choice` and `parallel_tool_calls`.
"""
