"""Lists in a record: of plain values, and of items with quantity and price."""

import random

from examples.demo_model.texts.records import Fact, enum_free
from examples.demo_model.texts.schemas import Property, Schema, Style, object_schema, reference
from examples.demo_model.texts.values import Json, draw, words

LISTS = (
    ("tags,labels,keywords,topics", "topic", "is tagged {v}"),
    ("colors,colours", "color", "comes in {v}"),
    ("guests,people,participants,members,names", "person", "includes {v}"),
    ("ingredients,foods,contents", "food", "contains {v}"),
    ("cities,stops,places,locations", "city", "covers {v}"),
    ("items,products,articles,parts", "product", "lists {v}"),
    ("codes,ids,references,numbers", "code", "refers to {v}"),
    ("words,terms,values", "lower", "mentions {v}"),
    ("scores,sizes,readings", "int 1 200", "has the readings {v}"),
)
ITEM_KEYS = ("items", "lines", "products", "articles", "positions")
ITEM_PATTERNS = ("{q} x {n}", "{q} {n}", "{n} ({q})", "{q} pieces of {n}")
ITEM_PRICES = (" at {p}", " for ${p}", " at {p} each", ", {p}")
MORE_ITEM_PATTERNS = (
    *("{n}: {q}", "{q} pcs {n}", "{n} x{q}", "{q} of the {n}", "{q} units of {n}"),
    *("{n}, {q} pieces", "{n} - {q}", "{q}x {n}", "{q} times the {n}", "{n} [{q}]"),
)
MORE_ITEM_PRICES = (
    *(" for {p} dollars", " @ {p}", " costing {p}", " priced at {p}", ": ${p}"),
    *(" - {p}", " for {p} euros each", ", each {p}", " = {p}"),
)


def join(rng: random.Random, parts: list[str]) -> str:
    """``a, b and c``, or with commas alone."""
    if len(parts) == 1 or rng.random() < 0.4:
        return ", ".join(parts)
    return f"{', '.join(parts[:-1])} and {parts[-1]}"


def plain_list(rng: random.Random, held_out: bool) -> Fact:
    """A list of one to five plain values."""
    keys, kind, clause = rng.choice(LISTS)
    values = [draw(rng, kind, held_out) for _ in range(rng.randint(1, 5))]
    values = list({v.text: v for v in values}.values())
    text = join(rng, [v.text for v in values])
    schema: Schema = {"type": "array", "items": enum_free(values[0].schema)}
    items: list[Json] = [v.json for v in values]
    return Fact(
        Property(rng.choice(keys.split(",")), schema), items, text, clause.replace("{v}", text)
    )


def item_list(rng: random.Random, held_out: bool, style: Style) -> Fact:
    """A list of one to four objects: name, quantity, often a price."""
    name, count = rng.choice(("name", "product", "item")), rng.choice(("quantity", "qty", "count"))
    price = rng.choice(("price", "unit_price", "cost", ""))
    known = held_out or rng.random() < 0.6
    pattern = rng.choice(ITEM_PATTERNS if known else MORE_ITEM_PATTERNS)
    priced = rng.choice(ITEM_PRICES if known else MORE_ITEM_PRICES)
    texts: list[str] = []
    items: list[Json] = []
    props = [Property(name, {"type": "string"}), Property(count, {"type": "integer"})]
    props += [Property(price, {"type": "number"})] if price else []
    rng.shuffle(props)
    for _ in range(rng.randint(1, 4)):
        n, q = words(rng, "product", held_out), draw(rng, "int 1 40", held_out)
        p = draw(rng, "num 1 90 2", held_out)
        found: dict[str, Json] = {name: n, count: q.json, price: p.json}
        text = pattern.replace("{n}", n).replace("{q}", q.text)
        texts.append(text + (priced.replace("{p}", p.text) if price else ""))
        items.append({prop.key: found[prop.key] for prop in props})
    key = rng.choice(ITEM_KEYS)
    item = reference(style, "item", object_schema(rng, style, "item", props))
    text = rng.choice(("; ", ", ", "\n- ") if known else (" and ", " / ", "\n* ", "\n")).join(texts)
    return Fact(Property(key, {"type": "array", "items": item}), items, text, f"contains {text}")
