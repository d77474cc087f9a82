"""Products with packed weights against sums of doubles."""

import numpy as np
import pytest

from maskwright.models.compiled.layers import COLUMNS, multiply, pack

NOTHING = np.empty(0, np.float32)


@pytest.mark.parametrize("inputs", [1, 7, 192])
@pytest.mark.parametrize("outputs", [1, COLUMNS, COLUMNS + 1, 3 * COLUMNS - 5])
@pytest.mark.parametrize("biased", [False, True])
def test_product_and_each_row_for_itself(inputs: int, outputs: int, biased: bool) -> None:
    rng = np.random.default_rng(inputs + outputs)
    x, weight, bias = (
        rng.standard_normal(shape).astype(np.float32)
        for shape in ((28, inputs), (outputs, inputs), outputs)
    )
    out = np.full((28, outputs), np.nan, np.float32)
    [packed] = pack([weight])
    multiply(x, packed, bias if biased else NOTHING, out)
    exact = x.astype(np.float64) @ weight.T.astype(np.float64) + (bias if biased else 0)
    np.testing.assert_allclose(out, exact, atol=1e-4, rtol=0)
    order = rng.permutation(28)
    for count in (4, 8, 12, 20, 24):
        some = np.empty((count, outputs), np.float32)
        multiply(x[order[:count]], packed, bias if biased else NOTHING, some)
        assert np.array_equal(some, out[order[:count]]), "bits depend on the rows beside"
