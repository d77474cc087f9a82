"""Chat with a model in the terminal, with a shape for its answers if one is given.

Each line is a message; the answer is printed while it is generated. `/shape SHAPE` gives further
answers another shape and `/shape` none, `/clear` forgets the chat, `/exit` or Ctrl-D ends it.
Ctrl-C ends an answer. Where standard input is no terminal, each of its lines is a message.

`--url` names a server; without it the model is served in this process.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from contextlib import ExitStack, suppress

from maskwright.cli.asking import ChatOptions, sampling_fields
from maskwright.cli.input.shapes import Shape, read_shape
from maskwright.cli.options import cache_folder
from maskwright.cli.output.appearance import coloured, remark
from maskwright.cli.process.chats import ChatClient, Message, chat_client
from maskwright.errors import InputError

COMMANDS = "/shape SHAPE, /shape, /clear, /exit"


def run(options: ChatOptions) -> None:
    if options.url is not None and options.model is not None:
        raise InputError(
            "give either --url, or --model for this process; --name names a server's model",
            param="model",
        )
    shape = None if options.shape is None else read_shape(options.shape, options.kind)
    with ExitStack() as closing:
        url = options.url
        if url is None:
            # Imports torch, which is not needed to ask another server.
            from maskwright.cli.own_server import own_server  # noqa: PLC0415

            cache = cache_folder(options.cache)
            url = closing.enter_context(own_server(options.model, cache))
        client = closing.enter_context(chat_client(url, options.access, options.name))
        Chat(client, shape, options).run()


class Chat:
    """A chat: what has been said, and the shape of answers."""

    def __init__(self, client: ChatClient, shape: Shape | None, options: ChatOptions) -> None:
        self._client = client
        self._shape = shape
        self._options = options
        self._begin: list[Message] = []
        if options.system:
            self._begin = [{"role": "system", "content": options.system}]
        self._messages = [*self._begin]

    def run(self) -> None:
        """Answer each line until there are no more."""
        for line in lines():
            if not line.strip():
                continue
            if line.strip() == "/exit":
                return
            try:
                if line.startswith("/"):
                    self._obey(line.strip())
                else:
                    self._answer(line)
            except InputError as error:  # the chat continues as if it had not been said
                print(coloured(str(error), "red"), file=sys.stderr, flush=True)

    def _obey(self, line: str) -> None:
        """A line that says what the chat shall be like."""
        command, _, argument = line.partition(" ")
        if command == "/clear":
            self._messages = [*self._begin]
        elif command == "/shape":
            given = argument.strip()
            self._shape = read_shape(given, self._options.kind) if given else None
        else:
            raise InputError(f"there is no {command}; there are {COMMANDS}")

    def _answer(self, line: str) -> None:
        asked = [*self._messages, {"role": "user", "content": line}]
        answer = self._client.stream(asked, self._shape, sampling_fields(self._options))
        with suppress(KeyboardInterrupt):
            for piece in answer.pieces:
                print(piece, end="", flush=True)
        answer.pieces.close()
        print(flush=True)
        if answer.finish_reason == "length":
            remark("the token limit has shortened the answer")
        self._messages = [*asked, {"role": "assistant", "content": answer.text}]


def lines() -> Iterator[str]:
    """The lines of standard input; on a terminal with a prompt, and with those before at hand."""
    if not sys.stdin.isatty():
        yield from (line.rstrip("\r\n") for line in sys.stdin)
        return
    with suppress(ImportError):  # which some builds of Python don't have
        importlib.import_module("readline")  # then `input` edits lines, and finds those before
    remark(f"a line is a message; {COMMANDS}")
    while True:
        try:
            yield input("> ")
        except EOFError:
            print()
            return
