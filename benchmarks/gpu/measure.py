"""What the kernels and the engine do on a GPU, beside ceilings that are measured in the same call.

    python benchmarks/gpu/measure.py [--subjects chain,mask] [--tiny] [--save]

chain       the whole chain of sampling, beside a chain of torch's operations that sorts
mask        masks by their row numbers, beside shipping bitmasks
decode      attention of new tokens, beside torch's without blocks
prefill     attention of pieces of prompts, beside torch's
low-rank    the updates of adapters, beside torch's of one adapter after another
few-rows    products of four and of eight rows, beside torch's
fp8         products with weights in fp8, beside torch's of bfloat16
next-rows   from drawn tokens to the next forward, by tables of states
step        the forward of a decode step, of models with random weights
structured  the engine's tokens a second with and without a schema

`read_bandwidth_%` is the share of the bandwidth of reading at which the bytes are read that can't
be avoided; that of reading is measured by a kernel that does nothing else. Rows are saved after
each subject. One that fails doesn't keep the others from being measured; the exit code is then 1.
FlashInfer's times stand beside ours where it is installed. Times are medians. `--tiny` runs the
script on the CPU with the least input, which shows that it works; its figures mean nothing, and it
doesn't save them.
"""

from __future__ import annotations

import argparse
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Final

import torch

ROOT: Final = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks.gpu.attention import measure_decode, measure_prefill
from benchmarks.gpu.decode_step import measure_steps, measure_structured
from benchmarks.gpu.few_rows import measure_few_rows
from benchmarks.gpu.fp8_product import measure_fp8
from benchmarks.gpu.low_rank import measure_low_rank
from benchmarks.gpu.next_rows import measure_next_rows
from benchmarks.gpu.sampling import measure_chain, measure_masks
from benchmarks.gpu.timing import Bench, measure_ceilings
from benchmarks.report import SKIPPED, Report, some_of
from maskwright.cli.output.tables import output_width
from maskwright.kernels.device import AVAILABLE

SUBJECTS: Final[dict[str, Callable[[Bench], None]]] = {
    "chain": measure_chain,
    "mask": measure_masks,
    "decode": measure_decode,
    "prefill": measure_prefill,
    "low-rank": measure_low_rank,
    "few-rows": measure_few_rows,
    "fp8": measure_fp8,
    "next-rows": measure_next_rows,
    "step": measure_steps,
    "structured": measure_structured,
}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--subjects", type=some_of(SUBJECTS), default=list(SUBJECTS))
    parser.add_argument("--tiny", action="store_true")
    parser.add_argument("--save", action="store_true")
    options = parser.parse_args()
    if not options.tiny and not (AVAILABLE and torch.cuda.is_available()):
        print("skipped: needs an NVIDIA GPU that torch sees, and triton", file=sys.stderr)
        raise SystemExit(SKIPPED)
    if options.tiny and options.save:
        parser.error("the figures of --tiny mean nothing and are not saved")
    bench = Bench(torch.device("cpu" if options.tiny else "cuda", 0))
    ceilings = measure_ceilings(bench)
    name = "none" if options.tiny else torch.cuda.get_device_name(bench.device)
    packages = ("torch", "triton", "xgrammar") if AVAILABLE else ("torch", "xgrammar")
    report = Report("gpu", packages, gpu=name, **ceilings)
    failed = False
    for subject in options.subjects:
        try:
            SUBJECTS[subject](bench)
        except Exception:
            print(f"{subject} ended with an error:", file=sys.stderr)
            traceback.print_exc()
            failed = True
        if not options.tiny:
            torch.cuda.empty_cache()
        for row in bench.rows:
            report.add(**row)  # type: ignore[arg-type] - the case is text
        bench.rows.clear()
        if options.save:
            report.save()
    print(report.text(output_width()))
    raise SystemExit(failed)


if __name__ == "__main__":
    main()
