from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from maskwright.models import LoadedModel, load
from tests.engine.tiny import save_checkpoint


@pytest.fixture(scope="session")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    directory: Path = tmp_path_factory.mktemp("checkpoint") / "tiny"
    return load(save_checkpoint(directory))


@pytest.fixture(scope="session")
def other_weights(tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    """A draft model that is nearly always wrong: one layer, drawn anew, and less padding."""
    directory: Path = tmp_path_factory.mktemp("checkpoint") / "draft"
    return load(save_checkpoint(directory, seed=2, padding=3, num_hidden_layers=1))


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Several threads only slow such small products down; `tests/models` covers two."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)
