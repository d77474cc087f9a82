from collections.abc import Iterator
from pathlib import Path

import pytest

from maskwright.models import LoadedModel, load
from maskwright.processes import GrammarProcesses
from tests.engine.tiny import save_checkpoint


@pytest.fixture(scope="session")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    directory: Path = tmp_path_factory.mktemp("checkpoint") / "tiny"
    return load(save_checkpoint(directory))


@pytest.fixture(scope="module")
def processes(loaded: LoadedModel) -> Iterator[GrammarProcesses]:
    """Grammar processes with short limits, so that tests meet them."""
    processes = GrammarProcesses(loaded.vocab, seconds=3.0, nbytes=256 << 20)
    yield processes
    processes.close()
