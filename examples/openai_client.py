"""Extract a typed object from text with the official `openai` package.

Start the server (`make run`), then: python examples/openai_client.py [URL]
"""

import sys
from typing import Literal

from openai import OpenAI
from pydantic import BaseModel, Field


class Line(BaseModel):
    product: str
    quantity: int = Field(ge=1, le=999)


class Order(BaseModel):
    customer: str
    status: Literal["open", "paid", "shipped"]
    lines: list[Line]
    note: str | None


def main() -> None:
    url = sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:8000"
    client = OpenAI(base_url=f"{url}/v1", api_key="none")
    answer = client.chat.completions.parse(
        model="maskwright-demo",
        messages=[{"role": "user", "content": "Ines Roth paid for 3 lamps and 2 chairs."}],
        response_format=Order,
        temperature=0,
    )
    order = answer.choices[0].message.parsed
    assert order is not None
    print(order.customer, order.status)
    for line in order.lines:
        print(f"  {line.quantity} x {line.product}")


if __name__ == "__main__":
    main()
