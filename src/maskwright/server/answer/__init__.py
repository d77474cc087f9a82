"""What is sent back: whole answers, streams, log-probabilities.

- `answers`: The bodies of answers.
- `choices`: The n generations of one request, read as one sequence of (index, delta).
- `logprobs`: Scores of tokens in OpenAI's shape, in step with the text they are of.
- `parts`: An answer as it comes out of the engine, told apart.
- `streaming`: Answers as server-sent events, in the order that clients of the protocol rely on.
- `token_trace`: How each token of an answer was chosen.
"""
