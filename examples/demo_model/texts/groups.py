"""Groups: several records of one domain, with the same keys, in one text."""

import random
from dataclasses import dataclass

from examples.demo_model.texts.domains import Domain
from examples.demo_model.texts.records import domain_facts, enum_free, label
from examples.demo_model.texts.schemas import Property
from examples.demo_model.texts.values import Json, words


@dataclass(frozen=True, slots=True)
class Layout:
    """How the records of one list are written.

    Rows have ``labels`` before their values, or once in a ``header``; sentences begin with a
    ``lead``. ``alike``, if not 0, is the seed of wordings that are equal in all records.
    """

    between: str = ", "
    labels: tuple[str, ...] = ()
    header: bool = False
    lead: str = ""
    alike: int = 0

    @classmethod
    def draw(cls, rng: random.Random, props: list[Property]) -> "Layout":
        """A random layout."""
        labels = tuple(label(rng, prop.key) for prop in props)
        return cls(
            rng.choice((", ", ", ", "; ", " | ", " / ", " - ")),
            labels if rng.random() < 0.4 else (),
            rng.random() < 0.5,
            rng.choice(("", "", "", "- ", "* ", "{n}. ", "{n}) ")),
            rng.choice((0, rng.randint(1, 10**6))),
        )

    def row(self, values: list[str], first: bool) -> str:
        """The values of one record."""
        if self.labels and not self.header:
            values = [f"{name}: {value}" for name, value in zip(self.labels, values, strict=True)]
        rows = [values]
        if self.labels and self.header and first:
            rows.insert(0, list(self.labels))
        return "\n".join(self.between.join(row) for row in rows)


PLAIN = Layout()


def group(
    rng: random.Random, domain: Domain, count: int, held_out: bool
) -> tuple[list[Property], list[tuple[str, dict[str, Json]]]]:
    """Several records of one domain with the same keys: properties, and (text, object) of each."""
    first = domain_facts(rng, domain, rng.randint(1, 3), held_out)
    keys = [fact.prop.key for fact in first]
    name_key = rng.choice([key for key in domain.name_keys if key not in keys] or ["title_name"])
    props = [Property(name_key, {"type": "string"})]
    props += [Property(f.prop.key, enum_free(f.prop.schema)) for f in first]
    props = [Property(p.key, {k: v for k, v in p.schema.items() if k != "format"}) for p in props]
    entries: list[tuple[str, dict[str, Json]]] = []
    as_form = rng.random() < (0.25 if held_out else 0.4)
    subject = rng.choice(domain.subjects)
    layout = PLAIN if held_out else Layout.draw(rng, props)
    for number in range(count):
        name = words(rng, domain.name_kind, held_out)
        wording = random.Random(layout.alike) if layout.alike else None
        facts = domain_facts(rng, domain, 0, held_out, keys, wording)
        found: dict[str, Json] = {name_key: name}
        for fact in facts:
            dated = fact.prop.schema.get("format") == "date"
            found[fact.prop.key] = fact.text if dated else fact.json
        if as_form:
            text = layout.row([name, *(fact.text for fact in facts)], first=not number)
        else:
            body = " and ".join(fact.clause for fact in facts)
            lead = layout.lead.replace("{n}", str(number + 1))
            text = f"{lead}{subject.replace('{v}', name)} {body}."
        entries.append((text, found))
    rng.shuffle(props)
    return props, [(text, {p.key: found[p.key] for p in props}) for text, found in entries]
