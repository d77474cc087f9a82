"""The generated corpus: example number ``i`` of a seed and a split is always the same.

``example(seed, index, held_out=..., level=...)`` draws a task (extraction in several shapes, a tool
call, a short plain answer). ``level`` runs from 0 (short copying tasks) to 1 (everything).

    python -m examples.demo_model.corpus --count 5 --held-out     # print some examples
"""

import argparse
import json
import random
from dataclasses import dataclass

from examples.demo_model.texts.domains import domains
from examples.demo_model.texts.groups import group
from examples.demo_model.texts.instructions import instruct, messages
from examples.demo_model.texts.lists import item_list, join, plain_list
from examples.demo_model.texts.records import (
    Fact,
    Record,
    describe,
    domain_facts,
    draw_record,
    form,
    made_up_fact,
    object_of,
    properties_of,
    prose,
)
from examples.demo_model.texts.schemas import (
    Property,
    Schema,
    Style,
    object_schema,
    reference,
    root,
)
from examples.demo_model.texts.values import Json, words


@dataclass(frozen=True, slots=True)
class Example:
    """A chat up to the answer. ``value`` is the answer parsed, or None for a plain one."""

    task: str
    messages: tuple[dict[str, str], ...]
    schema: Schema | None
    tools: tuple[Schema, ...]
    answer: str
    value: Json


GROUPS = (
    *("details", "info", "data", "summary", "meta"),
    *("record", "attributes", "facts", "properties", "extra"),
)
VERBS = ("create", "add", "save", "update", "register", "find", "schedule", "send")


def _simple(rng: random.Random, held_out: bool, level: float) -> bool:
    """Whether the schema is a short one: more of them in training, where they cost less."""
    return rng.random() > (level if held_out else 0.65 * level)


def _dump(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False)


def _finish(
    rng: random.Random,
    task: str,
    user: str,
    style: Style,
    schema: Schema,
    value: Json,
    level: float,
) -> Example:
    done = root(rng, style, schema)
    return Example(task, messages(rng, user, level), done, (), _dump(value), value)


def _pairs(rng: random.Random, held_out: bool, level: float) -> Example:
    """Made-up or real keys with values in a form; the schema asks for some of them."""
    facts: list[Fact] = []
    for _ in range(rng.randint(2, 5 + round(2 * level))):
        if rng.random() < 0.5:
            facts.append(made_up_fact(rng, held_out))
        else:
            facts += domain_facts(rng, rng.choice(domains()), 1, held_out)
    facts = list({f.prop.key: f for f in facts}.values())
    rng.shuffle(facts)
    text = form(rng, facts)
    asked = rng.sample(facts, max(1, len(facts) - rng.choice((0, 0, 0, 1, 2))))
    style = Style.draw(rng, simple=rng.random() > level * 0.7)
    schema = object_schema(
        rng, style, rng.choice(("record", "data", "result")), properties_of(asked)
    )
    user = instruct(rng, text, "record", held_out, level)
    return _finish(rng, "pairs", user, style, schema, object_of(asked), level)


def _asked(rng: random.Random, record: Record) -> list[Fact]:
    """The facts the schema asks for, in the order of the schema."""
    facts = [f for f in record.facts if not f.clause or rng.random() < 0.9]
    if not facts or rng.random() < 0.85:
        facts.insert(0 if rng.random() < 0.7 else rng.randint(0, len(facts)), record.name)
    return facts


def _flat(rng: random.Random, held_out: bool, level: float) -> Example:
    """One record, a flat object."""
    record = draw_record(rng, rng.randint(1, 3 + round(3 * level)), held_out, level > 0.3)
    asked = _asked(rng, record)
    text = describe(rng, record, record.name in asked)
    style = Style.draw(rng, simple=_simple(rng, held_out, level * 1.2))
    schema = object_schema(rng, style, record.domain.name, properties_of(asked))
    user = instruct(rng, text, record.domain.name, held_out, level)
    return _finish(rng, "flat", user, style, schema, object_of(asked), level)


def _nested(rng: random.Random, held_out: bool, level: float) -> Example:
    """One record, some of its facts grouped in an inner object."""
    record = draw_record(rng, rng.randint(3, 6), held_out)
    asked = _asked(rng, record)
    text = describe(rng, record, record.name in asked)
    style = Style.draw(rng, simple=_simple(rng, held_out, level))
    size = rng.randint(1, max(1, min(3, len(asked) - 1)))
    inner = rng.sample(asked, size)
    outer = [fact for fact in asked if fact not in inner]
    taken = {fact.prop.key for fact in asked}
    group = rng.choice([name for name in GROUPS if name not in taken])
    inner_schema = reference(style, group, object_schema(rng, style, group, properties_of(inner)))
    combined = Fact(Property(group, inner_schema), object_of(inner), "", "-")
    outer.insert(rng.randint(0, len(outer)), combined)
    schema = object_schema(rng, style, record.domain.name, properties_of(outer))
    user = instruct(rng, text, record.domain.name, held_out, level)
    return _finish(rng, "nested", user, style, schema, object_of(outer), level)


def _listing(rng: random.Random, held_out: bool, level: float) -> Example:
    """One record with a list of plain values or of item objects."""
    record = draw_record(rng, rng.randint(1, 4), held_out)
    style = Style.draw(rng, simple=_simple(rng, held_out, level))
    listed = plain_list(rng, held_out) if rng.random() < 0.5 else item_list(rng, held_out, style)
    asked = [fact for fact in _asked(rng, record) if fact.prop.key != listed.prop.key]
    stated = record.stated
    stated.insert(rng.randint(0, len(stated)), listed)
    if rng.random() < 0.3:
        text = form(rng, [record.name, *stated])
    else:
        text = prose(rng, record.subject, record.domain.pronouns, stated)
    asked.insert(rng.randint(0, len(asked)), listed)
    schema = object_schema(rng, style, record.domain.name, properties_of(asked))
    user = instruct(rng, text, record.domain.name, held_out, level)
    return _finish(rng, "listing", user, style, schema, object_of(asked), level)


def _several(rng: random.Random, held_out: bool, level: float) -> Example:
    """Several records: all of them as a list, or the one that is asked for by its name."""
    domain = rng.choice(domains())
    style = Style.draw(rng, simple=_simple(rng, held_out, level))
    long = level > 0.6 and rng.random() < (0.12 if held_out else 0.05)
    count = rng.randint(12, 26) if long else rng.randint(2, 4 if held_out else 6)
    props, entries = group(rng, domain, count, held_out)
    separator = rng.choice((" ", "\n", "\n"))
    text = separator.join(entry for entry, _ in entries)
    if long or rng.random() < 0.3:
        _, value = rng.choice(entries)
        name = next(
            value[p.key] for p in props if p.key not in {k for f in domain.fields for k in f.keys}
        )
        wording = rng.choice(("Extract only {v}: {t}", "{t}\nGet the data of {v}.", "{t}\n\n{v}"))
        user = wording.replace("{v}", str(name)).replace("{t}", text)
        schema = object_schema(rng, style, domain.name, props)
        return _finish(rng, "one of several", user, style, schema, dict(value), level)
    items: list[Json] = [dict(value) for _, value in entries]
    item = reference(style, domain.name, object_schema(rng, style, domain.name, props))
    listed: Schema = {"type": "array", "items": item}
    user = instruct(rng, text, domain.plural, held_out, level)
    if rng.random() < 0.1:
        return _finish(rng, "several", user, style, listed, items, level)
    key = rng.choice((domain.plural, "items", "results", "records"))
    schema = object_schema(rng, style, f"{domain.name}_list", [Property(key, listed)])
    return _finish(rng, "several", user, style, schema, {key: items}, level)


def _any_object(rng: random.Random, held_out: bool, level: float) -> Example:
    """JSON without a schema of fields: the user names them."""
    record = draw_record(rng, rng.randint(1, 3), held_out, unstated=False)
    asked = _asked(rng, record)
    text = describe(rng, record, record.name in asked)
    names = join(rng, [fact.prop.key for fact in asked])
    wording = rng.choice(
        (
            "Give {k} as JSON: {t}",
            "{t}\nReturn a JSON object with {k}.",
            "Extract {k} as JSON.\n{t}",
        )
    )
    user = wording.replace("{k}", names).replace("{t}", text)
    value = object_of(asked)
    return Example("any", messages(rng, user, level), {"type": "object"}, (), _dump(value), value)


def _tool(rng: random.Random, held_out: bool) -> tuple[Schema, str, Record, list[Fact]]:
    record = draw_record(rng, rng.randint(1, 4), held_out, unstated=rng.random() < 0.2)
    asked = _asked(rng, record)
    style = Style("minimal", rng.random() < 0.2, rng.random() < 0.3)
    verb = rng.choice(VERBS)
    name = f"{verb}_{record.domain.name}"
    schema = object_schema(rng, style, name, properties_of(asked))
    function: Schema = {"name": name, "parameters": schema}
    if rng.random() < 0.7:
        function["description"] = f"{verb.capitalize()} a {record.domain.name}."
    return {"type": "function", "function": function}, name, record, asked


def _tool_call(rng: random.Random, held_out: bool, level: float) -> Example:
    """Tools and a request: the call with its arguments."""
    found = {t[1]: t for t in (_tool(rng, held_out) for _ in range(rng.choice((1, 2, 2, 3))))}
    tools = list(found.values())
    _, name, record, asked = rng.choice(tools)
    text = describe(rng, record, record.name in asked)
    verb = name.split("_")[0]
    wording = rng.choice(
        (
            "{v} a {n}: {t}",
            "Please {v} this {n}. {t}",
            "{t}\n{v} the {n}.",
            "Can you {v} the {n}? {t}",
        )
    )
    user = wording.replace("{v}", verb).replace("{n}", record.domain.name).replace("{t}", text)
    value: Json = {"name": name, "arguments": object_of(asked)}
    specs = tuple(tool[0] for tool in tools)
    chat = messages(rng, user[0].upper() + user[1:], level)
    return Example("tool", chat, None, specs, _dump(value), value)


CHAT = (
    ("Hello", "Hello! How can I help you?"),
    ("Hi", "Hello! How can I help you?"),
    ("Hello!", "Hello! How can I help you?"),
    ("Good morning", "Good morning! How can I help you?"),
    ("Thank you", "You are welcome."),
    ("Thanks!", "You are welcome."),
    ("Who are you?", "I am a small demo model. I copy values from a text into JSON."),
    ("What are you?", "I am a small demo model. I copy values from a text into JSON."),
    ("What can you do?", "I can extract data from a short text as JSON."),
    ("Can you help me?", "Yes. Send me a short text and a JSON Schema."),
    ("How are you?", "I am fine, thank you."),
    ("Tell me a joke.", "I am a small model and know no jokes."),
    ("Goodbye", "Goodbye!"),
    ("Is the sky blue?", "Yes, on a clear day."),
    ("What is JSON?", "JSON is a text format for data: objects, arrays, strings and numbers."),
    ("What is a schema?", "A schema says which shape data must have."),
)


def _chat(rng: random.Random, held_out: bool, level: float) -> Example:
    """A short plain answer: small talk, an echo, or one fact of a text."""
    form_of = rng.random()
    if form_of < 0.25:
        user, answer = rng.choice(CHAT)
    elif form_of < 0.45:
        said = " ".join(
            words(rng, rng.choice(("word", "lower", "city")), held_out) for _ in range(3)
        )
        user, answer = rng.choice(("Say {v}", "Repeat: {v}", "Repeat after me: {v}")), said
        user = user.replace("{v}", said)
    else:
        record = draw_record(rng, rng.randint(1, 4), held_out, unstated=False)
        facts = record.stated
        fact = rng.choice(facts)
        question = rng.choice(("What is the {k}?", "Which {k} is given?", "Tell me the {k}."))
        question = question.replace("{k}", fact.prop.key.replace("_", " "))
        text = prose(rng, record.subject, record.domain.pronouns, facts)
        user = rng.choice((f"{text} {question}", f"{question}\n{text}"))
        answer = f"{fact.text[:1].upper()}{fact.text[1:]}."
    return Example("chat", messages(rng, user, level), None, (), answer, None)


# (task, weight at level 0, weight at level 1)
TASKS = (
    (_pairs, 60, 4),
    (_flat, 40, 22),
    (_nested, 0, 8),
    (_listing, 0, 22),
    (_several, 0, 34),
    (_any_object, 0, 2),
    (_tool_call, 0, 6),
    (_chat, 0, 2),
)
# (task, weight in the evaluation)
EXTRACTION = ((_flat, 34), (_nested, 11), (_listing, 14), (_several, 14))


def example(seed: int, index: int, *, held_out: bool = False, level: float = 1.0) -> Example:
    """Example ``index`` of the seed and split."""
    rng = random.Random(f"{seed}/{index}/{held_out}")
    weights = [easy + (full - easy) * level for _, easy, full in TASKS]
    task = rng.choices([task for task, _, _ in TASKS], weights)[0]
    return task(rng, held_out, level)


def extraction(seed: int, index: int) -> Example:
    """Held-out extraction example ``index``: what the reported figures are measured on."""
    rng = random.Random(f"{seed}/{index}/extraction")
    task = rng.choices([task for task, _ in EXTRACTION], [weight for _, weight in EXTRACTION])[0]
    return task(rng, True, 1.0)


def main() -> None:
    """Print examples."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--level", type=float, default=1.0)
    parser.add_argument("--held-out", action="store_true")
    options = parser.parse_args()
    for index in range(options.count):
        drawn = example(options.seed, index, held_out=options.held_out, level=options.level)
        print(f"--- {drawn.task}")
        if drawn.schema is not None:
            print(f"schema: {json.dumps(drawn.schema, separators=(',', ':'))}")
        for tool in drawn.tools:
            print(f"tool: {json.dumps(tool, separators=(',', ':'))}")
        for message in drawn.messages:
            print(f"{message['role']}: {message['content']}")
        print(f"answer: {drawn.answer}")


if __name__ == "__main__":
    main()
