"""The cache on disk: what is read from it is what was written, whatever happened to the file."""

from __future__ import annotations

from multiprocessing import get_context
from pathlib import Path
from random import Random

import numpy as np
import pytest

from maskwright import Vocabulary
from maskwright.vocab import array_cache
from maskwright.vocab.array_cache import ArrayCache, Arrays
from maskwright.vocab.vocabulary import WORTH_KEEPING

ARRAYS = {"some": np.arange(1000, dtype=np.int32), "more": np.zeros((3, 5), np.uint8)}


def never() -> Arrays:
    raise AssertionError("computed, though it was kept")


def same(found: Arrays) -> bool:
    return found.keys() == ARRAYS.keys() and all(
        found[name].dtype == ARRAYS[name].dtype and np.array_equal(found[name], ARRAYS[name])
        for name in ARRAYS
    )


def the_file(folder: Path) -> Path:
    (file,) = (path for path in folder.rglob("*") if path.is_file())
    return file


@pytest.fixture
def filled(tmp_path: Path) -> Path:
    ArrayCache(tmp_path, "digest").arrays("name", lambda: ARRAYS)
    return tmp_path


def test_what_was_kept_is_not_computed_again(filled: Path) -> None:
    assert same(ArrayCache(filled, "digest").arrays("name", never))


@pytest.mark.parametrize("part", [0.0, 0.01, 0.5, 0.999])
def test_a_file_cut_short_is_computed_anew(filled: Path, part: float) -> None:
    file = the_file(filled)
    data = file.read_bytes()
    file.write_bytes(data[: int(part * len(data))])
    assert same(ArrayCache(filled, "digest").arrays("name", lambda: ARRAYS))
    assert file.read_bytes() == data


def test_a_flipped_bit_is_noticed_wherever_it_is(filled: Path) -> None:
    file = the_file(filled)
    data = bytearray(file.read_bytes())
    random = Random(0)
    for at in [*range(70), *(random.randrange(4000) for _ in range(100))]:
        data[at] ^= 1 << random.randrange(8)
        file.write_bytes(data)
        anew = {"some": np.full(1000, at, np.int32)}
        assert ArrayCache(filled, "digest").arrays("name", lambda anew=anew: anew) is anew
        data = bytearray(file.read_bytes())


def test_content_that_is_no_archive_is_computed_anew(filled: Path) -> None:
    content = b"something else"
    the_file(filled).write_bytes(array_cache.sha256(content).hexdigest().encode() + b"\n" + content)
    assert same(ArrayCache(filled, "digest").arrays("name", lambda: ARRAYS))


def test_versions_and_vocabularies_stand_apart(
    filled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = {"some": np.ones(1, np.int32)}
    assert ArrayCache(filled, "other").arrays("name", lambda: other) is other
    monkeypatch.setattr(array_cache, "FORMAT", array_cache.FORMAT + 1)
    assert ArrayCache(filled, "digest").arrays("name", lambda: other) is other


def test_a_folder_that_cannot_be_written_costs_nothing_else(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("no folder")
    assert same(ArrayCache(blocked, "digest").arrays("name", lambda: ARRAYS))


def write_often(folder: Path, number: int) -> None:
    for _ in range(40):
        found = ArrayCache(folder, "digest").arrays("name", lambda: ARRAYS)
        assert same(found), number
        for file in folder.rglob("name"):
            file.unlink(missing_ok=True)


def test_processes_that_write_at_the_same_time(tmp_path: Path) -> None:
    context = get_context("spawn")
    writers = [context.Process(target=write_often, args=(tmp_path, n)) for n in range(2)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(60)
        assert writer.exitcode == 0
    assert not [path for path in tmp_path.rglob(".*") if path.is_file()]  # nothing is left over


def test_a_vocabulary_keeps_its_trie(tmp_path: Path) -> None:
    tokens = [number.to_bytes(3, "big") for number in range(WORTH_KEEPING)]
    first = Vocabulary(tokens, cache=tmp_path).trie
    assert the_file(tmp_path).name == "trie"
    second = Vocabulary(tokens, cache=tmp_path).trie
    plain = Vocabulary(tokens).trie
    for one, other, third in zip(first, second, plain, strict=True):
        assert np.array_equal(one, other)
        assert np.array_equal(one, third)


def test_a_small_vocabulary_keeps_nothing(tmp_path: Path) -> None:
    assert len(Vocabulary([b"a", b"b"], cache=tmp_path).trie.byte) == 2
    assert not list(tmp_path.iterdir())
