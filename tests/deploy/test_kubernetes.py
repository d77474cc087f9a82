"""The Kubernetes manifest against the program: commands, options, ports, probes and names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from maskwright.cli.arguments import CommandParser, parameters_of
from maskwright.server.access_control import PROBES
from tests.cli.test_documentation import call
from tests.source_tree import ROOT

FILE = ROOT / "deploy" / "kubernetes" / "maskwright.yaml"
PARTS: dict[tuple[str, str], dict[str, Any]] = {
    (part["kind"], part["metadata"]["name"]): part for part in yaml.safe_load_all(FILE.read_text())
}
SERVER = PARTS["StatefulSet", "maskwright-server"]
ROUTER = PARTS["Deployment", "maskwright-router"]
WORKLOADS = pytest.mark.parametrize("workload", [SERVER, ROUTER], ids=["server", "router"])
AFTER_DRAIN = 10
"""Seconds that docs/operations.md leaves a server beyond its drain."""


def pod(workload: dict[str, Any]) -> dict[str, Any]:
    return workload["spec"]["template"]["spec"]


def container(workload: dict[str, Any]) -> dict[str, Any]:
    (only,) = pod(workload)["containers"]
    return only


def called(workload: dict[str, Any]) -> Any:
    """What the program would be called with, after it has read and checked the arguments."""
    assert container(workload)["command"] == ["maskwright"]
    name, *arguments = container(workload)["args"]
    return call(name, arguments, CommandParser(name, ""))


def drain_seconds(options: Any) -> float:
    """As the options of `serve` or of `route` have it."""
    return getattr(options, "server", options).drain_seconds


def probes(workload: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, value in container(workload).items():
        if name.endswith("Probe"):
            yield name, value["httpGet"]


@WORKLOADS
def test_the_program_takes_the_arguments_and_listens_where_kubernetes_asks(
    workload: dict[str, Any],
) -> None:
    values = called(workload)
    (port,) = container(workload)["ports"]
    assert values.port == port["containerPort"]
    assert values.host == "0.0.0.0"
    asked = dict(probes(workload))
    assert {each["port"] for each in asked.values()} == {port["name"]}
    assert {each["path"] for each in asked.values()} <= PROBES
    # A server that drains is alive and not ready.
    assert asked["livenessProbe"]["path"] == "/live"
    assert asked["readinessProbe"]["path"] == "/ready"


@WORKLOADS
def test_a_drain_ends_before_kubernetes_kills(workload: dict[str, Any]) -> None:
    seconds = pod(workload)["terminationGracePeriodSeconds"]
    assert seconds == drain_seconds(called(workload)) + AFTER_DRAIN


def test_the_router_knows_each_server_by_its_name() -> None:
    service = SERVER["spec"]["serviceName"]
    (port,) = PARTS["Service", service]["spec"]["ports"]
    names = [f"{SERVER['metadata']['name']}-{at}" for at in range(SERVER["spec"]["replicas"])]
    assert called(ROUTER).worker == [f"http://{name}.{service}:{port['port']}" for name in names]


def test_what_selects_pods_selects_those_of_one_workload() -> None:
    labels = {
        name: workload["spec"]["template"]["metadata"]["labels"]
        for name, workload in (("server", SERVER), ("router", ROUTER))
    }
    assert labels["server"] != labels["router"]
    for (kind, name), part in PARTS.items():
        selector = part["spec"]["selector"]
        chosen = selector.get("matchLabels", selector)
        matching = [who for who, given in labels.items() if chosen.items() <= given.items()]
        assert matching == ["server" if "server" in name else "router"], kind
    for name in ("maskwright", SERVER["spec"]["serviceName"]):
        (port,) = PARTS["Service", name]["spec"]["ports"]
        assert port["targetPort"] == "http"


@WORKLOADS
def test_what_is_mounted_is_there(workload: dict[str, Any]) -> None:
    mounted = {each["name"] for each in container(workload).get("volumeMounts", [])}
    assert mounted == {each["name"] for each in pod(workload).get("volumes", [])}


@WORKLOADS
def test_variables_are_read_by_the_program(workload: dict[str, Any]) -> None:
    options = type(called(workload))
    known = {parameter.variable for parameter in parameters_of(options)}
    assert {variable["name"] for variable in container(workload)["env"]} <= known
