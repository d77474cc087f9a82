"""Values of the corpus: each has its wording in the text, its JSON value and its bare schema."""

import datetime
import random
from dataclasses import dataclass
from typing import TypeAlias

from examples.demo_model.texts.words import MAIL_HOSTS, MONTHS, NUMBER_WORDS, entries, made_up

Json: TypeAlias = bool | int | float | str | list["Json"] | dict[str, "Json"] | None


@dataclass(frozen=True, slots=True)
class Value:
    """``text`` as a sentence has it, ``json`` as the answer has it, ``schema`` of its type."""

    text: str
    json: Json
    schema: dict[str, Json]


def draw(rng: random.Random, kind: str, held_out: bool) -> Value:
    """A value of the kind, with words of the split."""
    name, *arguments = kind.split(" ", 1)
    match name:
        case "int":
            low, high = (int(x) for x in arguments[0].split())
            return _integer(rng, low, high)
        case "num":
            low, high, digits = (int(x) for x in arguments[0].split())
            return _number(rng, low, high, digits)
        case "bool":
            return Value("", rng.random() < 0.5, {"type": "boolean"})
        case "enum":
            return _choice(rng, arguments[0].split(","))
        case "date":
            return _date(rng)
        case _:
            text = words(rng, name, held_out)
            return Value(text, text, {"type": "string"})


def _integer(rng: random.Random, low: int, high: int) -> Value:
    number = rng.randint(low, high if rng.random() < 0.7 else min(high, low + 60))
    text = str(number)
    if number < len(NUMBER_WORDS) and rng.random() < 0.12:
        text = NUMBER_WORDS[number]
    return Value(text, number, {"type": "integer"})


def _number(rng: random.Random, low: int, high: int, digits: int) -> Value:
    top = high if rng.random() < 0.6 else min(high, low + 40)
    if digits == 0 or rng.random() < 0.12:
        whole = rng.randint(max(low, 1), top)
        return Value(str(whole), whole, {"type": "number"})
    number = round(rng.uniform(low, top), digits)
    text = f"{number:.{digits}f}" if rng.random() < 0.5 else str(number)
    return Value(text, number, {"type": "number"})


def _choice(rng: random.Random, choices: list[str]) -> Value:
    chosen = rng.choice(choices)
    if rng.random() < 0.15:
        return Value(chosen, chosen, {"type": "string"})
    others = [x for x in choices if x != chosen]
    listed = [chosen, *rng.sample(others, rng.randint(1, min(4, len(others))))]
    rng.shuffle(listed)
    text = chosen.capitalize() if rng.random() < 0.05 else chosen
    schema: dict[str, Json] = {"type": "string", "enum": list(listed)}
    return Value(text, chosen, schema)


def _date(rng: random.Random) -> Value:
    day = datetime.date(rng.randint(1995, 2035), rng.randint(1, 12), rng.randint(1, 28))
    month = MONTHS[day.month - 1]
    written = rng.choice(
        (f"{day.day} {month} {day.year}", f"{month} {day.day}, {day.year}", day.isoformat())
    )
    if rng.random() < 0.5:
        written = day.isoformat()
    if rng.random() < 0.5:
        return Value(written, day.isoformat(), {"type": "string", "format": "date"})
    return Value(written, written, {"type": "string"})


def _capital(rng: random.Random, held_out: bool) -> str:
    return made_up(rng, held_out).capitalize()


def _listed(rng: random.Random, name: str, held_out: bool) -> str:
    return rng.choice(entries(name, held_out))


def _proper(rng: random.Random, name: str, held_out: bool, share: float) -> str:
    """A capitalised word: made up with probability ``share``, else from the list."""
    if rng.random() < share:
        return _capital(rng, held_out)
    return _listed(rng, name, held_out)


def _person(rng: random.Random, held_out: bool) -> str:
    first = _proper(rng, "first", held_out, 0.4)
    last = _proper(rng, "surname", held_out, 0.5)
    form = rng.random()
    if form < 0.1:
        return first
    if form < 0.16:
        return f"{first} {rng.choice('ABCDEFGHJKLMNPRSTW')}. {last}"
    if form < 0.2:
        return f"Dr. {first} {last}"
    return f"{first} {last}"


def _dish(rng: random.Random, held_out: bool) -> str:
    """A dish of an ingredient; never a listed one of the other split."""
    while True:
        head = rng.choice((_listed(rng, "food", held_out), made_up(rng, held_out)))
        dish = f"{head} {_listed(rng, 'dish', held_out).split()[-1]}"
        if dish not in entries("dish", not held_out):
            return dish


def _letters(rng: random.Random, count: int) -> str:
    return "".join(rng.choice("ABCDEFGHIJKLMNOPQRSTUVWXYZ") for _ in range(count))


def _digits(rng: random.Random, count: int) -> str:
    return "".join(rng.choice("0123456789") for _ in range(count))


def _code(rng: random.Random) -> str:
    letters, digits = _letters(rng, rng.randint(1, 3)), _digits(rng, rng.randint(2, 6))
    return rng.choice(
        (
            f"{letters}-{digits}",
            f"{letters}{digits}",
            f"{letters}-{digits}-{_letters(rng, 1)}",
            f"{digits}-{letters}",
            digits,
            f"{letters}{digits}{_letters(rng, 1)}",
            f"{_digits(rng, 4)}-{_digits(rng, 4)}",
        )
    )


def _phone(rng: random.Random) -> str:
    return rng.choice(
        (
            f"555-{_digits(rng, 4)}",
            f"+{rng.randint(1, 99)} {_digits(rng, 3)} {_digits(rng, 4)}",
            f"0{_digits(rng, 2)} {_digits(rng, 3)} {_digits(rng, 4)}",
            f"{_digits(rng, 3)}-{_digits(rng, 3)}-{_digits(rng, 4)}",
        )
    )


def words(  # noqa: C901 (a table of kinds: one flat match, a case or two a line)
    rng: random.Random, kind: str, held_out: bool
) -> str:
    """A text value of the kind."""

    def listed(name: str) -> str:
        return _listed(rng, name, held_out)

    def capital() -> str:
        return _capital(rng, held_out)

    match kind:
        case "person":
            return _person(rng, held_out)
        case "word":
            return capital()
        case "lower":
            return made_up(rng, held_out)
        case "city" | "country":
            place = _proper(rng, kind, held_out, 0.4)
            return (
                f"{rng.choice(('North', 'Port', 'Saint'))} {place}"
                if rng.random() < 0.06
                else place
            )
        case "company":
            stem = _proper(rng, "surname", held_out, 0.65)
            return (
                f"{stem} {listed('company_kind')}" if rng.random() < 0.75 else f"{stem} {capital()}"
            )
        case "product":
            noun = made_up(rng, held_out) if rng.random() < 0.2 else listed("noun")
            first = made_up(rng, held_out) if rng.random() < 0.2 else listed("adjective")
            return f"{first} {noun}"
        case "topic" if rng.random() < 0.4:
            return f"{made_up(rng, held_out)} {listed('topic').split()[-1]}"
        case "dish" if rng.random() < 0.6:
            return _dish(rng, held_out)
        case "reason" if rng.random() < 0.6:
            what = rng.choice((listed("noun"), made_up(rng, held_out)))
            how = rng.choice(("broken", "late", "missing", "too", "not"))
            return f"the {what} is {how} {listed('color')}"
        case "color" | "food" | "job" | "animal" | "material" if rng.random() < 0.15:
            return made_up(rng, held_out)
        case "hotel":
            return rng.choice((f"Hotel {capital()}", f"Grand {capital()}", f"{capital()} Inn"))
        case "event":
            head = rng.choice((capital(), listed("city"), listed("topic").title()))
            return f"{head} {listed('event_kind')}"
        case "title":
            return rng.choice(
                (
                    f"The {capital()} {listed('title_noun')}",
                    f"{listed('title_noun')} of {capital()}",
                    f"The {listed('title_noun')} in {listed('city')}",
                )
            )
        case "course":
            head = listed("topic").title() if rng.random() < 0.5 else capital()
            return rng.choice((head, f"{head} {rng.randint(1, 4)}", f"Introduction to {head}"))
        case "street":
            name = _proper(rng, "street", held_out, 0.5)
            return f"{rng.randint(1, 240)} {name} {listed('street_kind')}"
        case "email":
            name = f"{_proper(rng, 'first', held_out, 0.5).lower()}.{made_up(rng, held_out)}"
            name = name if rng.random() < 0.5 else made_up(rng, held_out)
            return f"{name}@{rng.choice(MAIL_HOSTS)}"
        case "site":
            return f"{made_up(rng, held_out)}.{rng.choice(('com', 'org', 'net', 'io', 'eu'))}"
        case "phone":
            return _phone(rng)
        case "code":
            return _code(rng)
        case "plate":
            return f"{_letters(rng, 2)} {_digits(rng, rng.randint(2, 4))} {_letters(rng, 2)}"
        case "flight":
            return f"{_letters(rng, 2)}{rng.choice((' ', ''))}{rng.randint(10, 9999)}"
        case "gate":
            return f"{_letters(rng, 1)}{rng.randint(1, 60)}"
        case "roomcode":
            return f"{_letters(rng, 1)}{rng.randint(100, 499)}"
        case "zip":
            return _digits(rng, 5)
        case "version":
            return f"{rng.randint(0, 12)}.{rng.randint(0, 30)}.{rng.randint(0, 99)}"
        case "time":
            return f"{rng.randint(0, 23):02d}:{rng.randint(0, 11) * 5:02d}"
        case _:
            return listed(kind)
