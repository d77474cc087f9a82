"""Bodies of answers, streams, log-probabilities.

- `answers`: The bodies of chat completions, the model list, and how events are encoded.
- `anthropic_writer`: The answers of POST /v1/messages.
- `choices`: The n generations of one request, merged into one sequence of (index, delta).
- `completion_writers`: The answers of POST /v1/chat/completions and of POST /v1/completions.
- `logprobs`: Log-probabilities of tokens in OpenAI's form, each with the text of its token.
- `parts`: Splits an answer, while it is generated, into words, reasoning and tool calls.
- `response_writer`: The answers of POST /v1/responses.
- `streaming`: Answers as server-sent events.
"""
