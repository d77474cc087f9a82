#!/bin/sh
# Requests that are refused. Every answer names the field that is wrong, or the place in the schema as
# a JSON Pointer.
# Start the server (`make run`), then: sh examples/errors.sh [URL]
url="${1:-http://127.0.0.1:8000}"

ask() {
    printf '\n%s\n' "$1"
    curl -s "$url/v1/chat/completions" -H 'Content-Type: application/json' -d "$1"
    echo
}

ask '{"messages": []}'
ask '{"messages": [{"role": "user", "content": "hi"}], "temperature": "hot"}'
ask '{"messages": [{"role": "user", "content": "hi"}], "guided_json": {"type": "object"}}'
ask '{"messages": [{"role": "user", "content": "hi"}], "max_tokens": 2, "response_format":
  {"type": "json_schema", "json_schema": {"name": "x", "schema": {"const": "a long constant"}}}}'
ask '{"messages": [{"role": "user", "content": "hi"}], "response_format":
  {"type": "json_schema", "json_schema": {"name": "x", "schema":
    {"properties": {"owner": {"$ref": "https://example.org/person.json"}}}}}}'
