"""What is sent back: whole answers, streams, log-probabilities.

- `answers`: The bodies of whole answers.
- `choices`: The n generations of one request, merged into one sequence of (index, delta).
- `logprobs`: Scores of tokens in OpenAI's form, in step with the text that they belong to.
- `parts`: An answer split, as it comes, into words, reasoning and tool calls.
- `streaming`: Answers as server-sent events, in the order on which clients rely.
- `token_trace`: How each token of an answer was chosen.
"""
