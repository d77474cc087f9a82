"""What is known about a shape and a text: for the command line, the server and the playground.

- `characters`: The characters that may come next.
- `continuations`: The texts with which a text can go on, where there are few.
- `coverage`: Which parts of a schema some values use.
- `covering`: Texts that together use each alternative of a shape.
- `derivations`: Texts of a grammar that together use each of its alternatives.
- `explain`: What is done with each keyword of a schema.
- `lint`: What is likely to be a mistake in a schema that can be used.
- `place`: Where a text stands in a schema or a grammar.
- `pointer`: JSON Pointers, and places in JSON text.
- `position`: Places in a text as line, column and caret.
- `profiles`: The rules that other services have for schemas.
- `reading`: How far a text matches, and what could follow.
- `report`: What is known about a reading as plain data.
- `samples`: Texts of a grammar: random ones, the shortest, long ones.
- `cases`: Texts that a shape must accept or reject, and what became of them.
- `tokens`: The tokens of a vocabulary that may follow a text.
- `words`: Sets of characters in words.
"""
