"""The options of `serve` about HTTP, clients, traces and the log, a type a parameter."""

from __future__ import annotations

from typing import Annotated

from maskwright.automaton.value import whitespace
from maskwright.cli import options
from maskwright.cli.arguments import Option
from maskwright.grammar.schema import options as schema_options

Host = Annotated[str, Option(help="Address to listen on.")]
Port = Annotated[
    int,
    Option(
        least=0,
        most=65535,
        envvar="MASKWRIGHT_PORT",
        help="Port to listen on; with 0 a free one is taken.",
    ),
]
TlsCertificate = Annotated[
    str | None,
    Option(help="File with the server's certificate (PEM), for HTTPS.", metavar="FILE"),
]
TlsKey = Annotated[
    str | None, Option(help="File with the private key of the certificate.", metavar="FILE")
]
ApiKeys = Annotated[
    str | None,
    Option(
        help="File with the keys of clients, as digests, and with their rates and quotas; "
        "'maskwright key' makes entries. It is read again on SIGHUP.",
        metavar="FILE",
    ),
]
ApiKey = Annotated[
    str | None,
    Option(
        envvar="MASKWRIGHT_API_KEY",
        help="A key that clients must send. Other users of this machine can read options; "
        "they can't read variables.",
        metavar="KEY",
    ),
]
OpenMetrics = Annotated[bool, Option(help="Let everybody read /metrics without a key.")]
CorsOrigin = Annotated[
    list[str],
    Option(
        help="Let scripts of web pages from ORIGIN (https://host) use the server; '*' for all. "
        "May be repeated.",
        metavar="ORIGIN",
    ),
]
BodyBytes = Annotated[int, Option(is_size=True, help="Most bytes of the body of a request.")]
RequestSeconds = Annotated[
    float | None,
    Option(
        help="Longest time that an answer may take, waiting included; then the client gets a 504. "
        "A request may ask for less; 'inf' is no limit. Default: 600 or what the request asks for; "
        "requests of the class 'batch' have no default.",
    ),
]
KeepAliveSeconds = Annotated[float, Option(least=0, help=options.KEEP_ALIVE_HELP)]
DrainSeconds = Annotated[
    float,
    Option(
        least=0,
        help="Time that requests may still take after SIGTERM, while new ones are answered 503.",
    ),
]
HandoffKey = Annotated[
    str | None,
    Option(
        envvar="MASKWRIGHT_HANDOFF_KEY",
        help="A key with which this server takes requests from other servers and hands them over, "
        "where a router has the key too. Whoever has it can decide what is answered.",
        metavar="KEY",
    ),
]
Name = Annotated[str | None, Option(help="Name of the model at /v1/models. Default: its own name.")]
StrictModel = Annotated[bool, Option(help="Refuse requests that name another model.")]
Whitespace = Annotated[whitespace.WhitespaceName, Option(help=options.WHITESPACE_HELP)]
AdditionalProperties = Annotated[
    schema_options.AdditionalProperties,
    Option(
        help="Whether objects may have properties of which their schema says nothing: forbid, "
        "or allow as JSON Schema does."
    ),
]
Numbers = Annotated[
    schema_options.Numbers,
    Option(
        help="How numbers in JSON are written: plain, as people do, without an exponent, or any."
    ),
]
ToolFormat = Annotated[
    str | None,
    Option(help="How the model writes tool calls. Default: as its chat template shows."),
]
ChatTemplateKwargs = Annotated[
    str,
    Option(
        help="Variables of the chat template, as a JSON object, where a request sets no others: "
        '{"enable_thinking": false}.',
        metavar="JSON",
    ),
]
BatchFolder = Annotated[
    str | None,
    Option(
        help="Folder for /v1/files and /v1/batches. A batch that was interrupted is continued "
        "from there.",
        metavar="FOLDER",
    ),
]
Trace = Annotated[
    str | None,
    Option(help="File to which a trace of each answer is added, as a line of JSON."),
]
TraceRequests = Annotated[
    bool,
    Option(
        help="Add requests and tokens to traces, for 'maskwright replay'. They hold the text "
        "of prompts and answers."
    ),
]
Otel = Annotated[
    str | None,
    Option(help="Address of an OpenTelemetry collector (OTLP over HTTP) for spans."),
]
LogFormat = Annotated[options.LogFormat, Option(help="'text' for people, 'json' for machines.")]
LogLevel = Annotated[options.LogLevel, Option(help="The lowest level that is logged.")]
LogPrompts = Annotated[
    bool, Option(help="Log the text of prompts; otherwise the log holds no text.")
]
