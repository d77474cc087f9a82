"""Records: a handful of facts about one thing, and the texts that state them."""

import random
from dataclasses import dataclass

from examples.demo_model.texts.domains import Domain, domains
from examples.demo_model.texts.schemas import Property, Schema
from examples.demo_model.texts.values import Json, Value, draw, words
from examples.demo_model.texts.words import made_up


@dataclass(frozen=True, slots=True)
class Fact:
    """One property with its value; ``clause`` is empty when no text states it."""

    prop: Property
    json: Json
    text: str
    clause: str

    @property
    def missing(self) -> bool:
        """Whether the answer leaves the property out."""
        return self.prop.optional and not self.prop.nullable and not self.clause


@dataclass(frozen=True, slots=True)
class Record:
    """``name`` is the fact that names the thing; ``facts`` are the others, stated and unstated."""

    domain: Domain
    subject: str
    name: Fact
    facts: tuple[Fact, ...]

    @property
    def stated(self) -> list[Fact]:
        """The facts that the text must state."""
        return [fact for fact in self.facts if fact.clause]


def pick(rng: random.Random, known: tuple[str, ...], held: tuple[str, ...], held_out: bool) -> str:
    """A wording of the split."""
    return rng.choice(held if held_out and held else known)


def _fact(value: Value, key: str, clause: str) -> Fact:
    return Fact(Property(key, value.schema), value.json, value.text, clause)


def _boolean(value: Value, key: str, clause: str) -> Fact:
    positive, negative = clause.split(" ~ ")
    text = "yes" if value.json else "no"
    return Fact(Property(key, value.schema), value.json, text, positive if value.json else negative)


def _absent(rng: random.Random, fact: Fact) -> Fact:
    nullable = rng.random() < 0.7
    prop = Property(fact.prop.key, fact.prop.schema, nullable, not nullable or rng.random() < 0.4)
    return Fact(prop, None, "", "")


def domain_facts(
    rng: random.Random,
    domain: Domain,
    count: int,
    held_out: bool,
    keys: list[str] | None = None,
    wording: random.Random | None = None,
) -> list[Fact]:
    """Facts on different fields of the domain; ``keys`` fixes fields and names (for lists).

    ``wording`` draws the clauses: one of the same state gives two records the same ones.
    """
    if keys is None:
        fields = rng.sample(domain.fields, min(count, len(domain.fields)))
    else:
        fields = [next(f for f in domain.fields if key in f.keys) for key in keys]
    facts: list[Fact] = []
    used = set(domain.name_keys[:1])
    for position, field in enumerate(fields):
        free = [key for key in field.keys if key not in used]
        if keys is None and not free:
            continue
        key = keys[position] if keys else rng.choice(free)
        used.add(key)
        value = draw(rng, field.kind, held_out)
        clause = pick(wording or rng, field.clauses, field.held_out_clauses, held_out)
        if field.kind == "bool":
            facts.append(_boolean(value, key, clause))
        else:
            facts.append(_fact(value, key, clause.replace("{v}", value.text)))
    return facts


MADE_UP_CLAUSES = (
    "has the {k} {v}",
    "has a {k} of {v}",
    "lists {v} as {k}",
    "shows {v} for {k}",
    "has {v} as its {k}",
    "comes with the {k} {v}",
    "names {v} as the {k}",
)
MADE_UP_KINDS = (
    "person word city company code lower color product|int 1 99|int 100 9999|num 1 200 2|time|topic"
)


def made_up_fact(rng: random.Random, held_out: bool) -> Fact:
    """A fact on a field with a made-up name ("has the flurb Kessan")."""
    first, *rest = MADE_UP_KINDS.split("|")
    kind = rng.choice([*first.split(), *rest])
    key = made_up(rng, held_out)
    value = draw(rng, kind, held_out)
    clause = rng.choice(MADE_UP_CLAUSES).format(k=key, v=value.text)
    return _fact(value, key, clause)


def draw_record(rng: random.Random, count: int, held_out: bool, unstated: bool = True) -> Record:
    """A record of a random domain with about ``count`` facts besides its name."""
    domain = rng.choice(domains())
    name = words(rng, domain.name_kind, held_out)
    fact = Fact(Property(rng.choice(domain.name_keys), {"type": "string"}), name, name, "")
    facts = domain_facts(rng, domain, count, held_out)
    if rng.random() < 0.25:
        facts[rng.randrange(len(facts))] = made_up_fact(rng, held_out)
    if unstated and len(facts) > 1 and rng.random() < 0.2:
        index = rng.randrange(len(facts))
        facts[index] = _absent(rng, facts[index])
    distinct = {f.prop.key: f for f in facts if f.prop.key != fact.prop.key}
    return Record(
        domain, rng.choice(domain.subjects).replace("{v}", name), fact, tuple(distinct.values())
    )


def label(rng: random.Random, key: str) -> str:
    """A key as a form would print it."""
    plain = key.replace("_", " ")
    return rng.choice((plain, plain.capitalize(), plain.title(), key))


def form(rng: random.Random, facts: list[Fact]) -> str:
    """The facts as ``label: value`` entries."""
    between = rng.choice((": ", ": ", ": ", " = ", " - "))
    end = rng.choice(("\n", "\n", "; ", ", ", " | "))
    return end.join(f"{label(rng, f.prop.key)}{between}{f.text}" for f in facts)


def prose(rng: random.Random, subject: str, pronouns: tuple[str, ...], facts: list[Fact]) -> str:
    """The facts as sentences about the subject."""
    sentences: list[str] = []
    pronoun = rng.choice(pronouns)
    rest = [fact.clause for fact in facts]
    while rest:
        take = rng.choice((1, 1, 2, 2, 3))
        clauses, rest = rest[:take], rest[take:]
        if len(clauses) == 3:
            body = f"{clauses[0]}, {clauses[1]} and {clauses[2]}"
        else:
            body = rng.choice((" and ", " and ", ", and ")).join(clauses)
        if not sentences:
            opening = subject
        elif pronoun == "They":
            opening = subject if rng.random() < 0.7 else "The person"
        else:
            opening = pronoun
        sentences.append(f"{opening} {body}.")
    return " ".join(sentences)


def describe(rng: random.Random, record: Record, named: bool) -> str:
    """The record's text; ``named`` says whether a form must hold the name too."""
    facts = record.stated
    rng.shuffle(facts)
    if not facts or rng.random() < 0.25:
        entries = [*facts, record.name] if named or rng.random() < 0.5 else facts
        if not entries:
            entries = [record.name]
        rng.shuffle(entries)
        return form(rng, entries)
    return prose(rng, record.subject, record.domain.pronouns, facts)


def object_of(facts: list[Fact]) -> dict[str, Json]:
    """The answer's object: the facts in order, without those left out."""
    return {fact.prop.key: fact.json for fact in facts if not fact.missing}


def properties_of(facts: list[Fact]) -> list[Property]:
    """The properties of the facts, in order."""
    return [fact.prop for fact in facts]


def enum_free(schema: Schema) -> Schema:
    """The schema without its enum: several records must agree on one schema."""
    return {key: value for key, value in schema.items() if key != "enum"}
