#!/usr/bin/env python3
"""Makes the committed PTX of tutorials.py. A user of the kit does not need it.

    python3 -m venv venv
    venv/bin/pip install triton==3.9.0
    venv/bin/python kernels/triton/make.py [--sm SM] [FOLDER]

Triton compiles for a GPU that is not there, sm_80 or with --sm 90 sm_90. Each
kernel becomes NAME.sm80.ptx; kernels.sm80.json has what Triton says of them
beside their PTX.
"""

import argparse
import json
import re
from pathlib import Path

import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

import tutorials

HERE = Path(__file__).parent
TILES = {"BM": 64, "BN": 64, "BK": 32}
HALF = "*fp16"
MATMUL = {"a": HALF, "b": HALF, "c": HALF, "m": "i32", "n": "i32", "k": "i32"}
F32 = "*fp32"

# Types of the arguments, constants, and options: arguments divide by 16.
KERNELS = {
    "add": ({"x": F32, "y": F32, "out": F32, "n": "i32"}, {"BLOCK": 1024}, {}),
    "softmax": (
        {"x": F32, "out": F32, "rows": "i32", "columns": "i32"}, {"BLOCK": 1024}, {"num_warps": 8},
    ),
    "matmul": (MATMUL, {**TILES, "GROUP": 4}, {"num_stages": 3}),
    "dropout": (
        {"x": F32, "out": F32, "n": "i32", "p": "fp32", "seed": "i32"}, {"BLOCK": 1024}, {},
    ),
    "layer_norm": (
        {
            "x": F32, "out": F32, "weight": F32, "bias": F32, "means": F32, "rstds": F32,
            "columns": "i32", "eps": "fp32",
        },
        {"BLOCK": 512}, {},
    ),
    "layer_norm_backward": (
        {
            "dx": F32, "dy": F32, "dw": F32, "db": F32, "x": F32, "weight": F32, "means": F32,
            "rstds": F32, "locks": "*i32", "counts": "*i32", "columns": "i32",
        },
        {"GROUP": 4, "BLOCK": 512}, {},
    ),
    "attention": (
        {"q": HALF, "k": HALF, "v": HALF, "out": HALF, "scale": "fp32", "length": "i32"},
        {"CAUSAL": True, "BM": 64, "BN": 32, "D": 64}, {"num_stages": 2},
    ),
    "grouped_matmul": (
        {
            "a_addresses": "*i64", "b_addresses": "*i64", "c_addresses": "*i64",
            "sizes": "*i32", "count": "i32",
        },
        TILES, {},
    ),
    "persistent_matmul": (MATMUL, TILES, {"num_stages": 3}),
    "descriptor_matmul": (MATMUL, TILES, {"num_stages": 3}),
    "host_descriptor_matmul": (
        {
            **MATMUL, "a": "tensordesc<fp16[64,32]>", "b": "tensordesc<fp16[32,64]>",
            "c": "tensordesc<fp16[64,64]>",
        },
        TILES, {"num_stages": 3},
    ),
}


def compiled(name, arch):
    """The kernel as Triton compiles it."""
    signature, constants, options = KERNELS[name]
    function = getattr(tutorials, name)
    aligned = [arg for arg, kind in signature.items() if kind.startswith("*") or arg in "mnk"]
    if "constexprs" in ASTSource.__init__.__code__.co_varnames:
        kinds = {**signature, **{constant: "constexpr" for constant in constants}}
        places = {function.arg_names.index(arg): 16 for arg in aligned}
        attributes = {(place,): [["tt.divisibility", by]] for place, by in places.items()}
        source = ASTSource(function, kinds, constexprs=constants, attrs=attributes)
    else:  # up to 3.1
        from triton.compiler import AttrsDescriptor

        places = tuple(function.arg_names.index(arg) for arg in aligned)
        attributes = AttrsDescriptor(divisible_by_16=places, equal_to_1=())
        source = ASTSource(function, signature, constants=constants, attrs=attributes)
    return triton.compile(source, target=GPUTarget("cuda", arch, 32), options=options)


def facts(name, kernel):
    """What Triton says of a kernel, as ``Kernel.from_triton`` reads it."""
    signature, constants, _ = KERNELS[name]
    metadata = (
        "name", "num_warps", "shared", "global_scratch_size", "profile_scratch_size",
        "tensordesc_meta",
    )
    return {
        "metadata": {k: getattr(kernel.metadata, k) for k in metadata if hasattr(kernel.metadata, k)},
        "signature": signature,
        "constants": constants,
        "names": list(getattr(tutorials, name).arg_names),
    }


def main():
    """Compiles the kernels."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--sm", type=int, default=80)
    parser.add_argument("folder", type=Path, nargs="?", default=HERE)
    args = parser.parse_args()
    known = {"triton": triton.__version__}
    for name in KERNELS:
        kernel = compiled(name, args.sm)
        # Folders of this machine say nothing.
        ptx = re.sub(r'(\.file\s+\d+ ")[^"\n]*/', r"\1", kernel.asm["ptx"])
        (args.folder / f"{name}.sm{args.sm}.ptx").write_text(ptx)
        known[name] = facts(name, kernel)
    (args.folder / f"kernels.sm{args.sm}.json").write_text(json.dumps(known, indent=1) + "\n")


if __name__ == "__main__":
    main()
