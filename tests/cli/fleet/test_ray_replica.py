"""A replica in an actor, with a stand-in for Ray whose actors answer as a test says."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from types import SimpleNamespace
from typing import Any

import pytest

from maskwright.cli.fleet import ray_cluster
from maskwright.cli.fleet.ray_cluster import RayReplica, RayResources, ReplicaActor
from maskwright.errors import InputError

PLACE = "process 7 on 10.0.0.2"


class RayError(Exception):
    """The root of Ray's errors."""


class Cluster:
    """Stands in for the module `ray`. Each actor answers `start` with the next of `starts`, and
    `ended` with the next of `ends`; an exception is raised."""

    def __init__(self, starts: list[Any], ends: list[Any]) -> None:
        self.exceptions = SimpleNamespace(RayError=RayError)
        self.made: list[tuple[dict[str, int], type, tuple[Any, ...]]] = []
        self.killed: list[Any] = []
        self._starts, self._ends = iter(starts), iter(ends)

    def remote(self, **resources: int) -> Callable[[type], Any]:
        def of(actor_class: type) -> Any:
            def make(*arguments: Any) -> Any:
                self.made.append((resources, actor_class, arguments))
                return SimpleNamespace(
                    number=len(self.made),
                    start=SimpleNamespace(remote=lambda: _told(next(self._starts))),
                    ended=SimpleNamespace(remote=lambda: _told(next(self._ends))),
                    end=SimpleNamespace(remote=lambda: _told(next(self._ends))),
                )

            return SimpleNamespace(remote=make)

        return of

    def kill(self, actor: Any) -> None:
        self.killed.append(actor.number)

    def available_resources(self) -> dict[str, float]:
        return {"CPU": 3.0}


async def _told(what: Any) -> Any:
    if isinstance(what, BaseException):
        raise what
    if isinstance(what, float):
        await asyncio.sleep(what)
    return what


def replica_on(cluster: Cluster) -> RayReplica:
    return RayReplica(cluster, "w0", ["--drafts", "0"], {"A": "1"}, RayResources(2, 1))


def run(work: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.run(work)


def test_the_actor_reserves_its_share_and_tells_where_its_server_is() -> None:
    cluster = Cluster([("http://10.0.0.2:81", PLACE, None)], [])
    started = run(replica_on(cluster).start())
    assert started == ("http://10.0.0.2:81", PLACE)
    [(resources, actor_class, arguments)] = cluster.made
    assert resources == {"num_cpus": 2, "num_gpus": 1}
    assert actor_class is ReplicaActor
    assert arguments == ("w0", ["--drafts", "0"], {"A": "1"})


def test_a_server_that_ends_at_its_start_is_reported_and_its_actor_kept() -> None:
    cluster = Cluster([("", "", "it ended"), ("http://10.0.0.2:81", PLACE, None)], [])
    replica = replica_on(cluster)
    with pytest.raises(InputError, match="it ended"):
        run(replica.start())
    assert run(replica.start())[1] == PLACE
    assert len(cluster.made) == 1


def test_a_server_that_ended_is_started_again_in_its_actor() -> None:
    cluster = Cluster([("http://10.0.0.2:81", PLACE, None)] * 2, ["exit code -9"])
    replica = replica_on(cluster)
    run(replica.start())
    assert run(replica.ended()) == "exit code -9"
    run(replica.start())
    assert len(cluster.made) == 1


def test_a_new_actor_takes_the_place_of_one_that_was_lost() -> None:
    lost = RayError("the machine is gone\nand more")
    cluster = Cluster([("http://10.0.0.2:81", PLACE, None), lost, ("u", PLACE, None)], [lost])
    replica = replica_on(cluster)
    run(replica.start())
    assert run(replica.ended()) == "its actor: the machine is gone"
    with pytest.raises(InputError, match="lost at its start: the machine is gone"):
        run(replica.start())
    run(replica.start())
    assert len(cluster.made) == 3
    assert cluster.killed == [1, 2]


def test_the_actor_ends_even_if_its_server_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray_cluster, "STOP_SECONDS", 0.01)
    cluster = Cluster([("http://10.0.0.2:81", PLACE, None)], [10.0])
    replica = replica_on(cluster)
    run(replica.end())
    assert cluster.killed == [], "it was never started"
    run(replica.start())
    run(replica.end())
    run(replica.end())
    assert cluster.killed == [1]


def test_a_replica_that_waits_for_resources_is_reported(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(ray_cluster, "PLACED_SECONDS", 0.0)
    cluster = Cluster([0.05], [])
    with caplog.at_level("WARNING"), pytest.raises(TypeError):
        run(replica_on(cluster).start())
    assert "it needs 2 CPU and 1 GPU, and 3 CPU and 0 GPU of the cluster are free" in caplog.text
