"""The normal form of a schema: for each JSON type, what a value of it must look like.

A schema combines demands in any order and depth: unions within conjunctions, negations, references.
A machine that reads a text needs it the other way round: a string is to be read now, which strings
are right? A *shape* answers that. It has one regular language for strings, one for the spellings of
the other scalars, and for arrays and objects a list of alternatives each, in which no union and no
negation is left.

It comes about like the disjunctive normal form of a formula. Negation is pushed towards the leaves,
one level at a time, because a negated union is a conjunction, which costs nothing, and because
regular languages can be complemented at the leaves. Then unions are multiplied out, one type at a
time, and alternatives that surely exclude each other are dropped as soon as that shows. What items
and members have to satisfy stays a set of schemas (a *conjunction*) that is normalised only when a
text gets there, so that recursive schemas have finite shapes.

- `branch_members`: What a branch says of members, and what an option of a union demands of them.
- `closed`: Objects that are closed although their schema does not say so.
- `containers`: The arrays and the objects that satisfy assertions without unions.
- `disjoint`: Cheap tests on one or two schemas: do they exclude each other, is a type free?
- `evident`: Schemas that evidently have a value: most of them, seen without a normal form.
- `lone`: The shape of one schema without unions, in one pass.
- `negation`: Negation, pushed one level towards the leaves.
- `one_of`: `oneOf` as `anyOf`, whose options exclude each other; which may share a value.
- `scalars`: The scalars that satisfy assertions without unions.
- `shape`: The classes of the normal form, and where in a document stands what they say.
- `shapes`: The shapes of the conjunctions of a document: start reading here.
- `unevaluated`: `unevaluated…`, resolved into keywords that need no memory.
- `unions`: Unions multiplied out, one type at a time.
"""
