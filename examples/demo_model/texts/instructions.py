"""What a user says around the text: instructions, system messages, greetings.

Held-out instructions are used in the held-out split alone. For training, instructions are also
composed of parts, so that the model learns to expect any imperative.
"""

import random

from examples.demo_model.texts.records import pick
from examples.demo_model.texts.words import made_up

INSTRUCTIONS = (
    "{t}",
    "{t}",
    "Extract the {n}: {t}",
    "Extract the {n}.\n\n{t}",
    "Extract the {n} from this text: {t}",
    "Get the {n} details: {t}",
    "Fill in the fields from the text.\n{t}",
    "Read the text and return the {n} as JSON: {t}",
    "Text: {t}",
    "Text: {t}\nReturn the {n} as JSON.",
    "{t}\n\nExtract the {n}.",
    "{t}\nWhich {n} is this?",
    "Parse this {n}: {t}",
    "Please extract the information: {t}",
    "Extract data: {t}",
    "What does this say? {t}",
    "Turn this into a {n} record: {t}",
    "Here is a note:\n{t}\nGive me the {n}.",
    "Convert to JSON: {t}",
    'Find the {n} in "{t}"',
    "I need the {n} from the following message.\n\n{t}",
    "Give the {n} information in JSON format. {t}",
)
HELD_OUT_INSTRUCTIONS = (
    "Pull out the {n}: {t}",
    "{t}\n\nWrite down the {n} as JSON.",
    "Structure this {n}: {t}",
    "Which details does this text give? {t}",
)
# Training alone also composes instructions: verb, object, end, and where the text stands.
INSTRUCTION_VERBS = """Extract Get Return Give Parse Convert Collect Show Report Note Record Identify
Summarize Capture Gather Produce Create Output Print Make Fill List Transcribe Encode Take Copy Map
Grab Describe Format Read Save Store Tell Name Find Complete Prepare Deliver Enter Recognize Sort
|Give me|I want|I need|We need|Please give|Please extract|Please return|Show me|Tell me|Look for
|Can you find|Could you extract|What is|What are|Please list|Send me|Kindly return|Now extract""".replace(
    "\n", " "
)
INSTRUCTION_OBJECTS = (
    *(
        "the {n}",
        "the {n} details",
        "the {n} data",
        "this {n}",
        "the data",
        "all fields",
        "every field",
    ),
    *("the information", "the facts", "the values", "a {n} object", "the {n} record", "a record"),
    *(
        "what is said about the {n}",
        "the {n} information",
        "the {n} below",
        "everything",
        "the content",
    ),
)
INSTRUCTION_ENDS = (
    *("", "", "", " as JSON", " in JSON", " as a JSON object", " from this text", " from the note"),
    *(" from the message", " in JSON format", " following the schema", ", please", " found here"),
)
INSTRUCTION_PLACES = (
    *("{i}: {t}", "{i}:\n{t}", "{i}.\n\n{t}", "{i}. {t}", "{t}\n\n{i}.", "{t}\n{i}.", "{t} {i}."),
    *("{t}\n---\n{i}", "{i}\n\n{t}", '{i}: "{t}"', "Text: {t}\n{i}.", "{t}\n\n{i}", "{i} ({t})"),
)
SYSTEM = (
    "You are a helpful assistant.",
    "You are a helpful assistant.",
    "Extract the data.",
    "Answer with JSON only.",
    "You extract structured data from text.",
    "Extract the information and answer in JSON.",
    "Return the fields of the schema.",
    "You are a careful data entry clerk. Copy values exactly.",
    "Respond only with a JSON object that matches the schema.",
    "Extract the event information.",
)
NOISE = (
    "Hello team,",
    "Good morning.",
    "Please see below.",
    "Thanks and best regards",
    "Let me know if anything is unclear.",
    "This is a short note.",
    "As discussed on the phone:",
    "Sent from my phone",
    "See you soon.",
    "Hi,",
)


def messages(rng: random.Random, user: str, level: float) -> tuple[dict[str, str], ...]:
    """The chat: the user's message, sometimes after a system message."""
    if level > 0.15 and rng.random() < 0.3:
        return (
            {"role": "system", "content": rng.choice(SYSTEM)},
            {"role": "user", "content": user},
        )
    return ({"role": "user", "content": user},)


def _composed(rng: random.Random) -> str:
    """An instruction composed of parts, sometimes with a made-up verb."""
    single, *longer = INSTRUCTION_VERBS.split("|")
    verb = rng.choice(longer).strip() if rng.random() < 0.3 else rng.choice(single.split())
    verb = made_up(rng, False).capitalize() if rng.random() < 0.2 else verb
    told = f"{verb} {rng.choice(INSTRUCTION_OBJECTS)}{rng.choice(INSTRUCTION_ENDS)}"
    return rng.choice(INSTRUCTION_PLACES).replace("{i}", told)


def instruct(rng: random.Random, text: str, noun: str, held_out: bool, level: float) -> str:
    """The text, usually with an instruction before or after it."""
    if level > 0.4 and rng.random() < 0.12:
        before, after = rng.sample(NOISE, 2)
        text = f"{before} {text} {after}"
    if rng.random() > 0.3 + level * 0.6:
        return text
    if held_out or rng.random() < 0.4:
        wording = pick(rng, INSTRUCTIONS, HELD_OUT_INSTRUCTIONS, held_out)
    else:
        wording = _composed(rng)
    return wording.replace("{n}", noun).replace("{t}", text)
