"""How the HTTP server behaves; the engine has its own configuration."""

from __future__ import annotations

from dataclasses import dataclass

from maskwright.automaton.value.whitespace import WHITESPACE, WhitespaceName
from maskwright.errors import InputError
from maskwright.grammar.tools.formats import tool_format


@dataclass(frozen=True, slots=True)
class ServerConfig:
    """Settings of the HTTP face.

    `model_name` is what `/v1/models` lists (the loaded model's own name when None);
    `strict_model` refuses requests for any other name with a 404. `whitespace` is how JSON answers
    are laid out: "spaced" as most programs write it, on one line, so that a weak model can't spend
    its tokens on line breaks; "flexible" leaves it to the model. `tool_format` is how the model
    writes tool calls (told from its chat template when None). `body_bytes` bounds a request
    body, `grammar_bytes` the compiled grammars kept, `ping_seconds` the silence on a stream
    after which a comment line keeps proxies from closing it, `reader_seconds` the time that a
    client may take nothing of its stream before it is cut off. `log_prompts` writes prompts into
    the log, which otherwise holds none.
    """

    model_name: str | None = None
    strict_model: bool = False
    whitespace: WhitespaceName = "spaced"
    tool_format: str | None = None
    body_bytes: int = 8 << 20
    grammar_bytes: int = 256 << 20
    ping_seconds: float = 15.0
    reader_seconds: float = 60.0
    log_prompts: bool = False

    def __post_init__(self) -> None:
        for name in ("body_bytes", "grammar_bytes", "ping_seconds", "reader_seconds"):
            if getattr(self, name) <= 0:
                raise InputError(f"{name} must be greater than 0", param=name)
        if self.whitespace not in WHITESPACE:
            raise InputError(f"whitespace is one of {', '.join(WHITESPACE)}", param="whitespace")
        if self.tool_format is not None:
            tool_format(self.tool_format)
