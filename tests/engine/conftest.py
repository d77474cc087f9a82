from pathlib import Path

import pytest

from maskwright.models import LoadedModel, load
from tests.engine.tiny import save_checkpoint


@pytest.fixture(scope="session")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    directory: Path = tmp_path_factory.mktemp("checkpoint") / "tiny"
    return load(save_checkpoint(directory))
