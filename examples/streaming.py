"""Print JSON while it is generated, then the number of its tokens.

Start the server (`make run`), then: python examples/streaming.py [URL]
"""

import json
import sys

from openai import OpenAI

SCHEMA: dict[str, object] = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "age": {"type": "integer", "minimum": 0, "maximum": 130},
        "city": {"type": ["string", "null"]},
    },
    "required": ["name", "age", "city"],
    "additionalProperties": False,
}


def main() -> None:
    url = sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:8000"
    client = OpenAI(base_url=f"{url}/v1", api_key="none")
    stream = client.chat.completions.create(
        model="maskwright-demo",
        messages=[{"role": "user", "content": "Mara Lindqvist, 34, lives in Oslo."}],
        response_format={
            "type": "json_schema",
            "json_schema": {"name": "person", "schema": SCHEMA, "strict": True},
        },
        temperature=0,
        stream=True,
        stream_options={"include_usage": True},
    )
    text = ""
    for chunk in stream:
        for choice in chunk.choices:
            text += choice.delta.content or ""
            print(choice.delta.content or "", end="", flush=True)
        if chunk.usage is not None:
            print(f"\n{chunk.usage.completion_tokens} tokens")
    json.loads(text)  # an answer with a schema is always complete


if __name__ == "__main__":
    main()
