"""Serve a model over HTTP, in OpenAI's protocol."""

from __future__ import annotations

import socket
import sys
from pathlib import Path

from maskwright.cli.fleet.roles import roles_of
from maskwright.cli.options import USER_CACHE, cache_folder
from maskwright.cli.process.listening import listen
from maskwright.cli.process.security import KeySource, tls_files
from maskwright.cli.serving import engine_options as engine
from maskwright.cli.serving import server_options as server
from maskwright.cli.serving.option_checks import (
    adapter_folders,
    check_replicated,
    replica_options,
    template_variables,
    with_objectives,
)
from maskwright.cli.serving.settings import ChosenModel, GrammarWork, WebSettings
from maskwright.cli.serving.trace_sinks import open_sinks
from maskwright.dist.routing.replica_state import Role
from maskwright.engine.config import EngineConfig, check_drafts_used
from maskwright.model_options import DEMO_PATH, check_device_name, local_checkpoint
from maskwright.server.access.keys import check_classes
from maskwright.server.config import ServerConfig

ENGINE = EngineConfig()
SERVER = ServerConfig()

GRAMMAR_PROCESSES = 1 if sys.platform == "linux" else 0
"""They are forked, and watched by what Linux says of a process."""


def serve(
    model: engine.Model = str(DEMO_PATH),
    backend: engine.Backend = "auto",
    device: engine.Device = "cpu",
    dtype: engine.Dtype = "auto",
    weight_dtype: engine.WeightDtype = "auto",
    adapter: engine.Adapter = [],  # noqa: B006 - read by the parser, never changed
    adapter_bytes: engine.AdapterBytes = ENGINE.adapter_bytes,
    host: server.Host = "127.0.0.1",
    port: server.Port = 8000,
    tls_certificate: server.TlsCertificate = None,
    tls_key: server.TlsKey = None,
    api_keys: server.ApiKeys = None,
    api_key: server.ApiKey = None,
    open_metrics: server.OpenMetrics = SERVER.open_metrics,
    cors_origin: server.CorsOrigin = [],  # noqa: B006 - read by the parser, never changed
    body_bytes: server.BodyBytes = SERVER.body_bytes,
    request_seconds: server.RequestSeconds = SERVER.request_seconds,
    drain_seconds: server.DrainSeconds = SERVER.drain_seconds,
    keep_alive_seconds: server.KeepAliveSeconds = SERVER.keep_alive_seconds,
    name: server.Name = SERVER.model_name,
    strict_model: server.StrictModel = SERVER.strict_model,
    whitespace: server.Whitespace = SERVER.whitespace,
    additional_properties: server.AdditionalProperties = SERVER.additional_properties,
    numbers: server.Numbers = SERVER.numbers,
    tool_format: server.ToolFormat = SERVER.tool_format,
    chat_template_kwargs: server.ChatTemplateKwargs = "{}",
    replicas: engine.Replicas = 1,
    ray: engine.OnRay = False,
    prefill: engine.Prefill = 0,
    decode: engine.Decode = 0,
    handoff_key: server.HandoffKey = SERVER.handoff_key,
    block_size: engine.BlockSize = ENGINE.block_size,
    kv_bytes: engine.KvBytes = ENGINE.kv_bytes,
    memory_fraction: engine.MemoryFraction = ENGINE.memory_fraction,
    blocks: engine.Blocks = ENGINE.blocks,
    kv_dtype: engine.KvDtype = ENGINE.kv_dtype,
    prefix_cache: engine.PrefixCache = ENGINE.prefix_cache,
    kv_host_bytes: engine.KvHostBytes = ENGINE.kv_host_bytes,
    kv_disk: engine.KvDisk = None,
    kv_disk_bytes: engine.KvDiskBytes = ENGINE.kv_disk_bytes,
    kv_policy: engine.KvPolicy = ENGINE.kv_policy,
    swap_bytes: engine.SwapBytes = ENGINE.swap_bytes,
    max_running: engine.MaxRunning = ENGINE.max_running,
    max_batch_tokens: engine.MaxBatchTokens = ENGINE.max_batch_tokens,
    stall: engine.Stall = ENGINE.stall,
    max_waiting: engine.MaxWaiting = ENGINE.max_waiting,
    ttft: engine.Ttft = [],  # noqa: B006 - read by the parser, never changed
    tpot: engine.Tpot = [],  # noqa: B006 - read by the parser, never changed
    max_context: engine.MaxContext = ENGINE.max_context,
    canonical: engine.Canonical = ENGINE.canonical,
    drafts: engine.Drafts = ENGINE.drafts,
    draft_model: engine.DraftModel = None,
    overlap: engine.Overlap = ENGINE.overlap,
    device_steps: engine.DeviceSteps = ENGINE.device_steps,
    reader_tokens: engine.ReaderTokens = ENGINE.reader_tokens,
    reader_seconds: engine.ReaderSeconds = ENGINE.reader_seconds,
    grammar_processes: engine.GrammarProcesses = GRAMMAR_PROCESSES,
    shape_seconds: engine.ShapeSeconds = 10.0,
    shape_bytes: engine.ShapeBytes = 512 << 20,
    graphs: engine.Graphs = ENGINE.graphs,
    threads: engine.Threads = ENGINE.threads,
    batch_folder: server.BatchFolder = None,
    trace: server.Trace = None,
    trace_requests: server.TraceRequests = False,
    otel: server.Otel = None,
    log_format: server.LogFormat = "text",
    log_level: server.LogLevel = "info",
    log_prompts: server.LogPrompts = SERVER.log_prompts,
    cache: engine.Cache = str(USER_CACHE),
) -> None:
    _check_models(device, draft_model, drafts)
    adapters, keys = adapter_folders(adapter), KeySource(api_key, api_keys)
    config = ServerConfig(
        model_name=name,
        strict_model=strict_model,
        whitespace=whitespace,
        additional_properties=additional_properties,
        numbers=numbers,
        tool_format=tool_format,
        chat_template_kwargs=template_variables(chat_template_kwargs),
        reader_seconds=reader_seconds,
        log_prompts=log_prompts,
        body_bytes=body_bytes,
        keys=keys.ring(),
        open_metrics=open_metrics,
        cors_origins=tuple(cors_origin),
        request_seconds=request_seconds,
        drain_seconds=drain_seconds,
        keep_alive_seconds=keep_alive_seconds,
        batch_folder=None if batch_folder is None else Path(batch_folder),
        handoff_key=handoff_key,
    )
    engine_config = EngineConfig(
        block_size=block_size,
        kv_bytes=kv_bytes,
        memory_fraction=memory_fraction,
        blocks=blocks,
        kv_dtype=kv_dtype,
        prefix_cache=prefix_cache,
        kv_host_bytes=kv_host_bytes,
        kv_disk=None if kv_disk is None else Path(kv_disk),
        kv_disk_bytes=kv_disk_bytes,
        kv_policy=kv_policy,
        swap_bytes=swap_bytes,
        max_running=max_running,
        max_batch_tokens=max_batch_tokens,
        stall=stall,
        max_waiting=max_waiting,
        max_context=max_context,
        classes=with_objectives(ENGINE.classes, ttft, tpot),
        canonical=canonical,
        drafts=drafts,
        overlap=overlap,
        device_steps=device_steps,
        reader_tokens=reader_tokens,
        reader_seconds=reader_seconds,
        graphs=graphs,
        threads=threads,
        adapter_bytes=adapter_bytes,
    )
    check_classes(config.keys, engine_config.classes)
    if len(roles := roles_of(replicas, prefill, decode)) > 1 or ray:
        options = _options(roles, ray, memory_fraction, tls_certificate or tls_key, batch_folder)
        return _replicate(roles, options, ray, (device, threads), (host, port), config, api_key)
    tls, sinks = tls_files(tls_certificate, tls_key), open_sinks(trace, otel, trace_requests)
    web = WebSettings(config, keys, tls, sinks, log_format, log_level)
    own = draft_model, adapters, cache_folder(cache)
    chosen = ChosenModel(model, backend, device, dtype, weight_dtype, *own)
    work = GrammarWork(grammar_processes, shape_seconds, shape_bytes)
    _serve_alone(chosen, engine_config, work, web, listen(host, port, reader_seconds))


def _serve_alone(
    chosen: ChosenModel,
    config: EngineConfig,
    work: GrammarWork,
    web: WebSettings,
    listening: socket.socket,
) -> None:
    """Serve with one engine, in this process."""
    with listening:
        for path in filter(None, (chosen.path, chosen.draft_path)):
            local_checkpoint(path)
        from maskwright.cli.serving.start import start  # noqa: PLC0415 - imports torch

        start(chosen, config, work, web, listening)


def _check_models(device: str, draft_model: str | None, drafts: int) -> None:
    check_device_name(device)
    if draft_model is not None:
        check_drafts_used(drafts)


def _options(
    roles: list[Role], ray: bool, memory_fraction: float | None, tls: str | None, folder: str | None
) -> list[str]:
    """The options of each replica."""
    check_replicated(tls, folder)
    sharing = len(roles)
    if ray:
        from maskwright.cli.fleet.ray_cluster import is_joined  # noqa: PLC0415 - imports asyncio

        sharing = 1 if is_joined() else sharing
    return replica_options(sys.argv[2:], sharing, memory_fraction)


def _replicate(
    roles: list[Role],
    options: list[str],
    ray: bool,
    computed: tuple[str, int | None],
    address: tuple[str, int],
    config: ServerConfig,
    key: str | None,
) -> None:
    """Serve with several replicas: with `ray` on its cluster. `computed`: the device and the
    threads of each. `config`: that of each replica, in part that of the router."""
    resources = None
    if ray:
        from maskwright.cli.fleet.ray_cluster import resources_of  # noqa: PLC0415 - as above

        resources = resources_of(*computed)
    from maskwright.cli.fleet.replicas import (  # noqa: PLC0415 - imports a server
        ReplicatedService,
    )

    front = config.body_bytes, config.drain_seconds, config.keep_alive_seconds
    service = ReplicatedService(roles, options, *address, *front, key)
    if resources is None:
        service.serve_as_processes()
    else:
        service.serve_on_ray(resources)
