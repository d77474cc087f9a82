"""What the engine holds, against its own structures."""

from __future__ import annotations

from maskwright.engine import Engine, EngineConfig, Request
from maskwright.engine.kv.blocks import AttentionWindow, BlockPool
from maskwright.engine.kv.prefix import PrefixTree
from maskwright.engine.schedule.scheduler import Scheduler
from maskwright.engine.schedule.view import MOST_CELLS, block_map, prefix_spans
from maskwright.models import LoadedModel
from maskwright.sampling import SamplingParams
from tests.bounds import wait_until


def test_blocks_are_shown_by_who_holds_them() -> None:
    pool = BlockPool(6, 4)
    one = pool.allocate(4)
    pool.share(one[1:2])
    pool.adopt(one[2])
    pool.release(one[2:4])
    assert pool.states() == "usc..."
    assert pool.states().count("c") == pool.cached


def test_a_large_pool_is_shown_by_the_state_of_most_blocks_of_a_cell() -> None:
    pool = BlockPool(3 * MOST_CELLS, 4)
    pool.allocate(4)
    found = block_map(Scheduler(pool, max_running=1, max_batch_tokens=1))
    assert (found.blocks_per_cell, found.total, len(found.cells)) == (3, pool.total, MOST_CELLS)
    assert found.cells[:3] == "u.."


def test_the_tree_is_shown_in_runs_without_a_branch() -> None:
    """Two texts of four blocks that part after the second, and one of its own under another
    salt."""
    pool = BlockPool(32, 2)
    tree = PrefixTree(pool, AttentionWindow(2, 8, None))
    texts = [("a", [1, 1, 2, 2, 3, 3, 4, 4]), ("a", [1, 1, 2, 2, 5, 5, 6, 6]), ("b", [7, 7])]
    held: list[int] = []
    for salt, tokens in texts:
        node = tree.root(salt)
        for at in range(0, len(tokens), 2):
            (block,) = pool.allocate(1)
            node = tree.insert(node, tuple(tokens[at : at + 2]), block)
            pool.release([block])
            if tokens[at] == 3:
                pool.share([block])
                held.append(block)
    spans, left_out = prefix_spans(tree)
    assert not left_out
    assert [(span.parent, span.blocks) for span in spans] == [(-1, 2), (-1, 1), (0, 2), (0, 2)]
    assert sum(span.blocks for span in spans) == len(list(tree.blocks()))
    assert sorted(span.holders for span in spans) == [0, 0, 0, 1]
    pool.release(held)


def test_live_requests_and_classes_are_those_of_the_engine(loaded: LoadedModel) -> None:
    config = EngineConfig(max_running=1, max_batch_tokens=32, blocks=64)
    with Engine(loaded, config) as engine:
        asked = [
            engine.submit(Request([65] * 20, SamplingParams(seed=n), 200, eos=(), service=service))
            for n, service in enumerate(("batch", "batch", "interactive"))
        ]
        wait_until(lambda: engine.stats().running == 1 and engine.stats().waiting == 2)
        view = engine.view()
        assert len(view.live) == 1
        assert view.live[0].prompt_tokens == 20
        assert sum(each.running + each.waiting for each in view.classes) == 3
        assert {each.name: each.running + each.waiting for each in view.classes} == {
            "interactive": 1, "agent": 0, "batch": 2,
        }  # fmt: skip
        assert len(view.blocks.cells) == 64
        for one in asked:
            one.cancel()
        for one in asked:
            one.result()
    assert engine.view().live == ()
