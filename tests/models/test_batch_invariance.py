"""The probe for products whose bits depend on the number of rows, and logits where they do."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch

from maskwright.kernels.reference import TILE
from maskwright.models import BatchInvariance, LibraryOperations, Product, probe_batch_invariance
from maskwright.models.batch_invariance import ROWS, WORK, AttentionShape
from tests.models import test_adapter, test_dense, test_kv_codes
from tests.models.families import DENSE, ROUTED
from tests.models.products import comparison, even_products, uneven_products
from tests.models.transformers_backend import test_decoder

ATTENTION = AttentionShape(kv_heads=2, group=2, width=16, dtype=torch.float32)


def product(outputs: int = 48, inputs: int = 64, *, bias: bool = True) -> LibraryOperations:
    torch.manual_seed(0)
    return LibraryOperations(
        (Product(torch.randn(outputs, inputs), torch.randn(outputs) if bias else None),)
    )


@pytest.fixture
def uneven() -> Iterator[None]:
    with uneven_products():
        yield


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("most", [4, 8, 31, 200, 511])
def test_a_product_that_changes_with_the_number_of_rows_is_found(most: int, bias: bool) -> None:
    """Wherever the change is, up to the number of rows of a step."""
    operations = product(bias=bias)
    with even_products(), uneven_products(most):
        found = probe_batch_invariance(operations)
    expected = next(rows for rows in ROWS if rows > most)
    assert not found.holds
    assert found.violation == (
        "the product of 64 inputs and 48 outputs in torch.float32, which has other bits among "
        f"{expected} rows than among 4"
    )


def test_no_more_rows_are_tried_than_a_step_has() -> None:
    with even_products(), uneven_products(100):
        assert probe_batch_invariance(product(), most_rows=100).holds
        assert not probe_batch_invariance(product(), most_rows=101).holds


def test_a_wide_product_is_tried_within_the_bound_on_work() -> None:
    """The first outputs stand for the others."""
    shapes: list[tuple[int, ...]] = []
    weight = torch.randn(1, 2048).expand(1 << 20, 2048)
    with even_products(), uneven_products(256):
        plain = torch.nn.functional.linear

        def noting(
            x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None
        ) -> torch.Tensor:
            shapes.append((len(x), *weight.shape))
            return plain(x, weight, bias)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(torch.nn.functional, "linear", noting)
            found = probe_batch_invariance(LibraryOperations((Product(weight),)))
    assert "among 512 rows" in found.violation
    assert max(rows * outputs * inputs for rows, outputs, inputs in shapes) <= WORK
    assert min(outputs for _, outputs, _ in shapes) == WORK // (512 * 2048)


@pytest.mark.parametrize("most", [4, 17, TILE])
def test_attention_that_changes_with_the_number_of_queries_is_found(most: int) -> None:
    with even_products(), uneven_products(most):
        found = probe_batch_invariance(LibraryOperations(attention=(ATTENTION,)))
    assert found.violation == (
        "attention of 2 query heads to each of 2 with 16 numbers in torch.float32"
    )


def test_products_and_attention_of_rows_for_themselves_pass() -> None:
    with even_products():
        operations = LibraryOperations(product().products, (ATTENTION,))
        assert probe_batch_invariance(operations) == BatchInvariance()


@pytest.mark.parametrize("family", ROUTED.values(), ids=ROUTED)
def test_experts_are_known_by_their_weights(family: tuple[str, dict]) -> None:
    operations = test_decoder.decoder_of(family).library_operations
    assert probe_batch_invariance(operations).violation.startswith("experts")


@pytest.mark.parametrize("family", DENSE.values(), ids=DENSE)
def test_every_product_of_a_model_is_named(family: tuple[str, dict]) -> None:
    """Each weight matrix of the library's models has a product of its shape, embeddings apart."""
    decoder = test_decoder.decoder_of(family)
    operations = decoder.library_operations
    assert not operations.routed
    shapes = {tuple(sorted(product.weight.shape)) for product in operations.products}
    embeddings = {
        id(module.weight)
        for module in decoder.model.modules()
        if isinstance(module, torch.nn.Embedding)
    }
    matrices = [
        weight
        for weight in decoder.model.parameters()
        if weight.dim() == 2 and id(weight) not in embeddings
    ]
    assert matrices
    assert {tuple(sorted(weight.shape)) for weight in matrices} <= shapes
    assert (decoder.vocab_size, 32) in {tuple(p.weight.shape) for p in operations.products}
    assert operations.attention


def test_the_dense_decoder_names_its_products_unless_they_are_compiled() -> None:
    _, plain = test_dense.build("Qwen3", {"head_dim": 32, "attention_bias": True}, compiled=False)
    shapes = [
        (*product.weight.shape, product.bias is None)
        for product in plain.library_operations.products
    ]
    assert sorted(shapes) == sorted(
        [(256, 64, False), (64, 128, False), (240, 64, True), (64, 120, True), (203, 64, True)]
    )
    assert plain.library_operations.attention == (AttentionShape(2, 2, 32, torch.float32),)
    _, compiled = test_dense.build("Qwen3", {"head_dim": 32}, compiled=True)
    with uneven_products():
        assert probe_batch_invariance(compiled.library_operations).holds


# The tests of logits, with products whose bits depend on the number of rows ----------------------


def test_equality_is_not_claimed_where_the_probe_finds_none(uneven: None) -> None:
    """Else the tests below would show nothing."""
    _, decoder = test_dense.build(*test_dense.CASES["llama"], compiled=False)
    (prompt,) = test_dense.prompts_of([40])
    whole, parts = (
        test_dense.run_schedule(decoder, [prompt], chunk=chunk, together=1, seed=1)[0]
        for chunk in (200, 1)
    )
    compare = comparison(decoder)
    last = len(prompt) - 1
    assert not torch.equal(whole[last], parts[last])
    compare(whole[last], parts[last], "")
    with pytest.raises(AssertionError, match="logits are wrong"):
        compare(whole[last] + 0.01, parts[last], "logits are wrong")


@pytest.mark.parametrize("case", ["llama yarn", "qwen3 window"])
@pytest.mark.parametrize("compiled", [False, True], ids=["torch", "compiled"])
def test_the_dense_decoder_is_right_within_rounding(
    case: str, compiled: bool, uneven: None, pytestconfig: pytest.Config
) -> None:
    test_dense.test_logits_equal_transformers_under_any_schedule(case, compiled, pytestconfig)


@pytest.mark.parametrize("name", ["gemma2", "gpt2"])
def test_the_librarys_models_are_right_within_rounding(name: str, uneven: None) -> None:
    test_decoder.test_bits_do_not_depend_on_the_schedule(DENSE[name])


@pytest.mark.parametrize("kind", ["int8", "fp8"])
def test_codes_are_right_within_those_that_turn(
    kind: str, uneven: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    test_kv_codes.test_codes_are_what_they_stand_for_under_any_schedule(
        "llama", kind, False, monkeypatch
    )


@pytest.mark.parametrize("make", [test_adapter.dense, test_adapter.library])
def test_adapters_are_right_within_rounding(make, uneven: None, tmp_path) -> None:
    """Also beside a compiled model: a library computes what they add."""
    test_adapter.test_a_mixed_batch_equals_merged_weights("llama", make, test_adapter.ALL, tmp_path)
