"""What a client can rely on: what of a shape was enforced, and whether the answer kept to it.

- `explain_route`: The endpoint that explains shapes, texts and answers.
- `records`: How the tokens of answers were chosen, kept for a while.
- `reporter`: The report of each answer, with the verdicts of the checks.
"""
