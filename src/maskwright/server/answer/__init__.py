"""Bodies of answers, streams, log-probabilities.

- `answers`: The bodies of chat completions, and the model list.
- `anthropic_writer`: The answers of POST /v1/messages.
- `chat_writer`: The answers of POST /v1/chat/completions.
- `choices`: The n generations of one request, merged into one sequence of (index, delta).
- `logprobs`: Log-probabilities of tokens in OpenAI's form, each with the text of its token.
- `parts`: Splits an answer, while it is generated, into words, reasoning and tool calls.
- `response_writer`: The answers of POST /v1/responses.
- `streaming`: Answers as server-sent events.
- `text_writer`: The answers of POST /v1/completions.
- `thinking`: Splits a reasoning section off the beginning of an answer, and counts its tokens.
"""
