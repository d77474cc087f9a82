"""The vector instructions that compiled products, attention and draws use.

They are compiled for several sets of instructions (in a header); the best one that the processor
has is chosen when this module is imported. `MASKWRIGHT_INSTRUCTIONS` in the environment
names another one instead. Draws are the same in all sets. So are products and attention in those
that multiply and add with one rounding: AVX2, AVX-512, and the baseline of Arm; in the baseline of
x86, which hasn't this instruction, the last bits of logits differ.
"""

from typing import Final, Literal

AVAILABLE: Final[tuple[str, ...]]
"""The sets that the processor has, the best one last."""

INSTRUCTIONS: Final[Literal["baseline", "avx2", "avx512"]]
"""The set that is used."""

NUMBER: Final[int]
"""Its place in `AVAILABLE` and in the lists of kernels."""
