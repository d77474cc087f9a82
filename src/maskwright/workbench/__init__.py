"""What is known about a shape and a text: for the command line, the server and the playground.

- `conversion/`: Shapes written anew: JSON Schemas as grammars, grammars without unused rules.
- `diagram/`: Pictures of a shape as SVG: railroad diagrams, and graphs of rules or states.
- `difference/`: What one shape allows and another doesn't.
- `findings/`: What is likely to be a mistake, in shapes of every kind.
- `sample/`: Texts that a shape allows, and which of its alternatives they use.
- `schema/`: What is to be said of a schema itself, without a text.
- `cases`: Texts that a shape must accept or reject, and what became of them.
- `answers`: What the library says of a schema and of a text.
- `choices`: What may be chosen of these tools, and their limits.
- `continuations`: The characters and texts that may come next, and texts most like a wrong one.
- `explanation`: What is known about a text, and why it isn't allowed, as plain data.
- `place`: Where a text stands in a schema or a grammar.
- `pointer`: JSON Pointers, and places in a text: values, line, column and caret.
- `questions`: What is asked of a shape while somebody writes it.
- `reading`: How far a text matches, and what could follow.
- `reasons`: The keywords and settings by which a text isn't allowed.
- `tokens`: The tokens of a vocabulary that may follow a text, and a text token by token.
"""
