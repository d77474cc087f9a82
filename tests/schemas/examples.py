"""Instances of the schemas that ship: some that each accepts, and changes that it must refuse.

A change is a JSON Pointer into the first accepted instance with the value to put there, or with
`GONE` to take away what is there. Instances have their properties in the order of the schema.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final


class Gone:
    """What is put where something is to be taken away."""


GONE: Final = Gone()


@dataclass(frozen=True, slots=True)
class Examples:
    """`accepted` instances, and changes of the first that are refused: (pointer, value)."""

    accepted: tuple[Any, ...]
    refused: tuple[tuple[str, Any], ...]


EXAMPLES: Final[dict[str, Examples]] = {
    "address": Examples(
        accepted=(
            {
                "recipient": "Grete Hermann",
                "street": "Große Straße 1",
                "unit": "3. OG",
                "city": "Bremen",
                "region": "Bremen",
                "postal_code": "28195",
                "country": "DE",
            },
            {"street": "PO Box 12", "city": "Oslo", "country": "NO"},
            {
                "street": "10 Downing St",
                "city": "London",
                "postal_code": "SW1A 2AA",
                "country": "GB",
            },
        ),
        refused=(
            ("/street", GONE),
            ("/city", ""),
            ("/country", "Germany"),
            ("/country", "de"),
            ("/postal_code", "-28195"),
            ("/postal_code", 28195),
            ("/planet", "Earth"),
        ),
    ),
    "bounding_boxes": Examples(
        accepted=(
            {
                "image": {"width": 1920, "height": 1080},
                "boxes": [
                    {
                        "label": "cat",
                        "x": 0,
                        "y": 12,
                        "width": 300,
                        "height": 200,
                        "confidence": 0.97,
                    },
                    {"label": "sofa", "x": 100, "y": 40, "width": 1, "height": 1},
                ],
            },
            {"boxes": []},
        ),
        refused=(
            ("/boxes", GONE),
            ("/boxes/0/label", GONE),
            ("/boxes/0/x", -1),
            ("/boxes/0/y", 12.5),
            ("/boxes/0/width", 0),
            ("/boxes/1/height", GONE),
            ("/boxes/0/confidence", 1.01),
            ("/image/height", GONE),
            ("/image/depth", 3),
        ),
    ),
    "contact": Examples(
        accepted=(
            {
                "name": "Petra Vogel",
                "organization": "Vogel & Söhne",
                "job_title": "Head of purchasing",
                "emails": [{"address": "petra.vogel@example.org", "kind": "work"}],
                "phones": [{"number": "+49 421 555-0100"}, {"number": "(0421) 555 0101"}],
                "address": "Am Wall 3, 28195 Bremen",
                "website": "https://example.org/petra",
                "birthday": "1984-02-29",
                "note": "",
            },
            {"name": "Omar Haddad"},
            {
                "name": "李伟",
                "emails": [],
                "phones": [{"number": "+8613800000000", "kind": "mobile"}],
            },
        ),
        refused=(
            ("/name", GONE),
            ("/name", ""),
            ("/emails/0/address", "petra.vogel"),
            ("/emails/0/address", GONE),
            ("/emails/0/kind", "private"),
            ("/phones/0/number", "call me"),
            ("/website", "example.org"),
            ("/birthday", "1983-02-29"),
            ("/age", 40),
        ),
    ),
    "entities": Examples(
        accepted=(
            {
                "entities": [
                    {
                        "text": "Ines Carvalho",
                        "type": "person",
                        "start": 0,
                        "end": 13,
                        "normalized": "Inês Carvalho",
                        "confidence": 1,
                    },
                    {"text": "the first of June 2025", "type": "date", "normalized": "2025-06-01"},
                ]
            },
            {"entities": []},
        ),
        refused=(
            ("/entities", GONE),
            ("/entities/0/text", ""),
            ("/entities/0/type", "human"),
            ("/entities/0/type", GONE),
            ("/entities/0/start", -1),
            ("/entities/0/end", 0),
            ("/entities/0/end", GONE),
            ("/entities/0/start", GONE),
            ("/entities/0/confidence", 2),
            ("/entities/1/wiki", "Q1"),
        ),
    ),
    "event": Examples(
        accepted=(
            {
                "title": "Staff meeting",
                "description": "The plan for the year.",
                "start": "2026-03-14T09:30:00+01:00",
                "end": "2026-03-14T10:15:00.5Z",
                "location": "Room 4",
                "url": "https://example.org/meet?id=4",
                "organizer": {"name": "Li Wei", "email": "li.wei@example.org"},
                "attendees": [{"name": "Anna Kowalczyk"}],
                "status": "confirmed",
            },
            {"title": "Holiday", "start": "2026-05-01", "end": "2026-05-02"},
        ),
        refused=(
            ("/title", GONE),
            ("/start", GONE),
            ("/start", "2026-02-30"),
            ("/start", "2026-03-14 at noon"),
            ("/end", "2026-03-14T25:00:00Z"),
            ("/url", "meet"),
            ("/organizer/name", GONE),
            ("/organizer/email", "li.wei"),
            ("/attendees/0", "Anna Kowalczyk"),
            ("/status", "maybe"),
            ("/room", "4"),
        ),
    ),
    "function_call": Examples(
        accepted=(
            {
                "name": "weather.get",
                "arguments": {"city": "Århus", "days": 3, "units": None, "at": [1.5, {"deep": []}]},
                "id": "call_01",
            },
            {"name": "stop", "arguments": {}},
        ),
        refused=(
            ("/name", GONE),
            ("/name", "2fast"),
            ("/name", "get weather"),
            ("/arguments", GONE),
            ("/arguments", "{}"),
            ("/arguments", ["Århus"]),
            ("/arguments/2nd", 1),
            ("/id", ""),
            ("/thoughts", "Let me see."),
        ),
    ),
    "invoice": Examples(
        accepted=(
            {
                "number": "RE-2026/0417",
                "issue_date": "2026-03-14",
                "due_date": "2026-04-13",
                "currency": "EUR",
                "seller": {
                    "name": "Vogel & Söhne",
                    "address": "Am Wall 3, 28195 Bremen",
                    "tax_id": "DE 123456789",
                    "email": "billing@example.org",
                },
                "buyer": {"name": "Petra Lindqvist"},
                "lines": [
                    {
                        "description": "Desk lamp",
                        "quantity": 3,
                        "unit": "pcs",
                        "unit_price": 24.9,
                        "tax_rate": 19,
                        "amount": 74.7,
                    },
                    {"description": "Discount", "quantity": 1, "unit_price": -4.7, "amount": -4.7},
                ],
                "subtotal": 70.0,
                "tax": 13.3,
                "total": 83.3,
                "note": "Payable within 30 days.",
            },
            {
                "number": "1",
                "issue_date": "2025-12-31",
                "currency": "USD",
                "seller": {"name": "A"},
                "buyer": {"name": "B"},
                "lines": [
                    {"description": "Work", "quantity": 0.5, "unit_price": 1e2, "amount": 50}
                ],
                "total": 50,
            },
        ),
        refused=(
            ("/number", GONE),
            ("/issue_date", "14.03.2026"),
            ("/due_date", "2026-04-31"),
            ("/currency", "euro"),
            ("/currency", GONE),
            ("/seller/name", ""),
            ("/seller/email", "billing"),
            ("/seller/vat", "DE 1"),
            ("/buyer", "Petra Lindqvist"),
            ("/lines", []),
            ("/lines/0/quantity", 0),
            ("/lines/0/unit_price", "24.90"),
            ("/lines/0/tax_rate", 101),
            ("/lines/1/amount", GONE),
            ("/total", GONE),
            ("/total", 2e9),
            ("/paid", True),
        ),
    ),
    "log_line": Examples(
        accepted=(
            {
                "timestamp": "2026-03-14T09:30:00.123Z",
                "level": "error",
                "message": "can't reach the database",
                "logger": "app.db",
                "host": "db-3.example.org",
                "process_id": 4711,
                "request_id": "req_8f3a",
                "duration_ms": 12.5,
                "error": {
                    "type": "ConnectionError",
                    "message": "timed out",
                    "stack": ["main.py:12 in main", "db.py:80 in connect"],
                },
                "fields": {"attempt": 3, "retry": True, "user": None, "table": "orders"},
            },
            {"timestamp": "2026-03-14T09:30:00+05:30", "level": "info", "message": "ready"},
        ),
        refused=(
            ("/timestamp", GONE),
            ("/timestamp", "2026-03-14 09:30"),
            ("/level", "ERROR"),
            ("/message", ""),
            ("/logger", "app db"),
            ("/process_id", -1),
            ("/duration_ms", -0.1),
            ("/error/type", GONE),
            ("/error/code", 5),
            ("/fields/attempt", [3]),
            ("/fields/no spaces", 1),
            ("/thread", "main"),
        ),
    ),
    "product": Examples(
        accepted=(
            {
                "name": "Kettle, 1.7 l",
                "brand": "Nord",
                "category": "Kitchen",
                "description": "Boils in three minutes.",
                "sku": "KE-17/B",
                "gtin": "4006381333931",
                "price": 39.95,
                "currency": "EUR",
                "availability": "in_stock",
                "rating": 4.5,
                "reviews": 120,
                "attributes": [
                    {"name": "power", "value": 2200, "unit": "W"},
                    {"name": "cordless", "value": True},
                    {"name": "colour", "value": "black"},
                ],
                "images": ["https://example.org/kettle.jpg"],
            },
            {"name": "Pen", "price": 0, "currency": "SEK"},
        ),
        refused=(
            ("/name", GONE),
            ("/price", GONE),
            ("/price", -1),
            ("/price", "39.95"),
            ("/currency", GONE),
            ("/sku", "no spaces"),
            ("/gtin", "12345"),
            ("/gtin", 4006381333931),
            ("/availability", "sold"),
            ("/rating", 5.5),
            ("/reviews", 1.5),
            ("/attributes/0/value", None),
            ("/attributes/1/name", GONE),
            ("/images/0", "kettle.jpg"),
            ("/weight", 1),
        ),
    ),
    "receipt": Examples(
        accepted=(
            {
                "merchant": "Café Nord",
                "address": "Storgata 1, Oslo",
                "date": "2026-03-14",
                "time": "09:30",
                "currency": "NOK",
                "items": [
                    {"name": "Coffee", "quantity": 2, "price": 84},
                    {"name": "Discount", "price": -10.5},
                ],
                "subtotal": 73.5,
                "tax": 11.03,
                "tip": 0,
                "total": 84.53,
                "payment_method": "card",
                "card_last_four": "0042",
            },
            {
                "merchant": "Kiosk",
                "date": "2024-02-29",
                "currency": "EUR",
                "items": [{"name": "Paper", "price": 1.2}],
                "total": 1.2,
            },
        ),
        refused=(
            ("/merchant", GONE),
            ("/date", "2026-3-14"),
            ("/time", "24:00"),
            ("/time", "9:30"),
            ("/currency", "kr"),
            ("/items", []),
            ("/items/0/price", GONE),
            ("/items/0/quantity", 0),
            ("/total", GONE),
            ("/total", None),
            ("/payment_method", "cheque"),
            ("/card_last_four", "42"),
            ("/cashier", "Ida"),
        ),
    ),
    "resume": Examples(
        accepted=(
            {
                "name": "Mara Lindqvist",
                "headline": "Structural engineer",
                "email": "mara@example.org",
                "phone": "+47 555 01 234",
                "location": "Oslo",
                "links": ["https://example.org/mara"],
                "summary": "Bridges, mostly.",
                "experience": [
                    {
                        "employer": "Bru AS",
                        "title": "Engineer",
                        "start": "2019-08",
                        "end": None,
                        "highlights": ["Led the bridge over the fjord."],
                    },
                    {"employer": "Vei AS", "title": "Trainee", "start": "2018", "end": "2019-07"},
                ],
                "education": [
                    {
                        "institution": "NTNU",
                        "degree": "MSc",
                        "field": "Civil engineering",
                        "start": "2013",
                        "end": "2018",
                    }
                ],
                "skills": ["steel", "concrete", "CAD"],
                "languages": [{"name": "Norwegian", "level": "native"}, {"name": "English"}],
            },
            {"name": "Li Wei", "experience": [], "education": [], "skills": []},
        ),
        refused=(
            ("/name", GONE),
            ("/email", "mara"),
            ("/links/0", "example.org/mara"),
            ("/experience", GONE),
            ("/experience/0/end", GONE),
            ("/experience/0/end", "today"),
            ("/experience/0/start", "2019-13"),
            ("/experience/1/start", "08/2018"),
            ("/education/0/institution", GONE),
            ("/skills", ["steel", "CAD", "steel"]),
            ("/skills/0", ""),
            ("/languages/0/level", "fluent"),
            ("/salary", 1),
        ),
    ),
    "sentiment": Examples(
        accepted=(
            {
                "label": "mixed",
                "score": -0.25,
                "confidence": 0.8,
                "aspects": [
                    {"aspect": "staff", "label": "positive", "quote": "so friendly"},
                    {"aspect": "room", "label": "negative"},
                ],
            },
            {"label": "neutral", "score": 0},
        ),
        refused=(
            ("/label", GONE),
            ("/label", "good"),
            ("/score", GONE),
            ("/score", -1.5),
            ("/score", "-0.25"),
            ("/confidence", 80),
            ("/aspects/0/label", GONE),
            ("/aspects/0/aspect", ""),
            ("/aspects/1/score", 1),
            ("/language", "en"),
        ),
    ),
}
