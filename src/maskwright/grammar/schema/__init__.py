"""A JSON Schema document, parsed into a typed tree of a fixed set of classes.

A schema is a conjunction: every one of its keywords restricts the value. Parsing turns
each keyword into *assertions*, objects of the classes in `tree`, so that nothing after it deals
with keywords, drafts or the JSON that they were written in. References are resolved on the way, so
a recursive schema is a cycle of `Schema` objects. Every keyword ends in one of three ways: it is
enforced, it is reported as an annotation, or the schema is refused.

To add a keyword:

1. Add its name to the group of its drafts and vocabulary in `drafts.KEYWORD_GROUPS`; if its setting
   is an object of schemas by name, also to `drafts.BY_NAME`.
2. Write its reader, a function from a setting to assertions, into a table of `parse`:
   `SCALAR_KEYWORDS`, `CONTAINER_KEYWORDS` or `COMBINING_KEYWORDS`; if most schemas have it, into
   the one of `common_keywords`. What multiplies branches counts them in `parse._branches`. If
   existing assertions can express the keyword, that is all.
3. Otherwise add a class to `tree.Assertion` and `tree.ABOUT`, its negation to
   `grammar/shape/negation.py`, and what it demands to `scalars.py`, `shapes.py`, `containers.py`
   or `unions.py` beside that; `evident.pyx` there asks the solver about others than it knows. See
   whether `unevaluated.py` and `disjoint.py` must know the class; a scalar one also goes into
   `_NARROWING` in `scalars.py`, one that combines schemas into `StringLanguages` of `shapes.py`,
   which otherwise takes any string to be possible. An array or object class becomes a field of
   `ArrayShape` or `ObjectShape` in `grammar/shape/shape.py`; then `automaton/value/progress.py`
   reads it, `automaton/satisfy/` and `automaton/finish/` count with it,
   `automaton/json/values.py` and `distinguish.py` compare it, and
   `grammar/tools/members.py` obeys or refuses it.
4. A class that holds schemas also goes into `mask/compile/constructs.py`, so that errors name the
   schema of a value, and an assertion that closes objects into `grammar/shape/closed.py`.
5. Show it to people: `workbench/diagram/schema_tracks.py` draws it,
   `workbench/sample/covering.py` lists its alternatives, `workbench/schema/lint.py` looks into
   subschemas, `workbench/reasons.py` knows keywords that mean nothing alone,
   `workbench/difference/schema_pairs.py` compares its field of two shapes, and
   `workbench/conversion/schema_rules.py` writes it as rules or refuses it by its name.
   `instances.py` judges by the package `jsonschema`, which must know the keyword.

For tests, add a row to `schema_cases.py`, `container_cases.py` or `algebra_cases.py` in
`tests/properties/`, which hold masks against brute force, one to the tables in
`tests/grammar/schema/`, and the class to `tests/grammar/shape/semantics.py`. For users, add a row
to docs/json-schema.md.

- `circles`: Schemas that refer to themselves about one and the same value.
- `common_keywords`: Keywords that most schemas have.
- `document`: The document as JSON: loading it, checking it, reading settings of a kind.
- `document_text`: The text of a document, written in one pass that checks it, and the schemas that
  stand in it.
- `drafts`: The drafts of JSON Schema, which keywords each of them has, and which hold in a schema.
- `options`: The names of what may be chosen in compiling a schema.
- `parse`: `parse_schema`: from a document to the tree and the report.
- `parse_options`: How a schema document is read.
- `recent`: Documents that were parsed lately, which are not parsed again.
- `references`: Where references lead.
- `registry`: Where references lead that are more than pointers from the root.
- `remarks`: What demands less than its author is likely to think, and the way out.
- `schema_object`: One schema object while it is read, and what all of a document share.
- `tree`: The tree: one class for each thing that a schema can assert.
"""
