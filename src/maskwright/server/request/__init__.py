"""From the bytes of a body to a typed request.

- `body`: A request body.
- `fields`: Reads a JSON object of a request field by field, each with its type and bounds.
- `messages`: The conversation of a chat request, as a closed typed tree and as chat templates
  want it.
- `own_options`: The field `maskwright`.
- `protocol`: POST /v1/chat/completions.
- `refusals`: Fields that would change the answer and are not obeyed here.
- `shape`: The shape an answer must take, wherever in the request it stands.
- `tool_use`: The fields `tools`, `tool_choice` and `parallel_tool_calls`.
"""
