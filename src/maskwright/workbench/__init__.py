"""What is known about a shape and a text: for the command line, the server and the playground.

- `conversion/`: Shapes written anew: JSON Schemas as grammars, grammars without unused rules.
- `diagram/`: Pictures of a shape as SVG: railroad diagrams, and graphs of rules or states.
- `difference/`: What one shape allows and another doesn't.
- `findings/`: What is likely to be a mistake, in shapes of every kind.
- `sample/`: Texts that a shape allows, and which of its alternatives they use.
- `schema/`: What is to be said of a schema itself, without a text.
- `cases`: Texts that a shape must accept or reject, and what became of them.
- `answers`: What the library says of a schema and of a text.
- `characters`: The characters that may come next, and sets of them in words.
- `choices`: What may be chosen of these tools, and their limits.
- `continuations`: The texts with which a text can go on, and those that are most like a wrong one.
- `explanation`: What may follow a text, and why a text isn't allowed.
- `place`: Where a text stands in a schema or a grammar.
- `pointer`: JSON Pointers, and places in JSON text.
- `position`: Places in a text as line, column and caret.
- `questions`: What is asked of a shape while somebody writes it.
- `reading`: How far a text matches, and what could follow.
- `reasons`: The keywords and settings by which a text isn't allowed.
- `report`: What is known about a reading as plain data.
- `tokens`: The tokens of a vocabulary that may follow a text, and a text token by token.
"""
