"""What a client can rely on: what of a shape was enforced, and whether the answer kept to it.

- `checks`: What has to hold of an answer, as checks that other means than masks can make.
- `explain_route`: The endpoint that explains shapes, texts and answers.
- `records`: How the tokens of answers were chosen, kept for a while.
- `report`: What was enforced, annotated and bounded for the answers to one request.
- `reporter`: The report of each answer, with the verdicts of the checks.
"""
