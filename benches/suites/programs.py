"""What the suites have: programs, how they are launched, and what is true of them."""

import ast
import math
import os
import re
import sys
import tomllib
import types
from dataclasses import dataclass, field

import esbmc
import faial
import fixed
import indigo
import indigo3
import sanitizer
import scor

HERE = os.path.dirname(os.path.abspath(__file__))
TRUTH = tomllib.load(open(os.path.join(HERE, "truth.toml"), "rb"))


# What the comments of a failing test say that it fails for, the first that fits.
REASONS = {
    r"race\b|racy|Write by|Read by": "race",
    r"assert|invariant|precondition|postcondition|abstraction": "an assertion or an invariant",
    r"null pointer": "a null pointer",
    r"out-of-bounds|check-array-bounds": "an access out of bounds",
    r"non-uniform|divergence": "barrier divergence",
    r"constant memory|0-sized": "a store to constant memory",
}

THREADS = 1024  # of a block, at most


@dataclass
class Program:
    suite: str
    name: str
    source: str
    language: str  # cuda | opencl
    block: list
    grid: list
    truth: str  # race | none | why it is about something else
    flags: list = field(default_factory=list)
    entry: str | None = None
    # Of launches that are given whole: scalars by name, what else the launch has.
    values: dict | None = None
    more: dict = field(default_factory=dict)


def sources(root, ends):
    for folder, folders, files in os.walk(root):
        folders.sort()
        for name in sorted(files):
            if name.endswith(ends):
                yield os.path.join(folder, name)


def sizes(text):
    return [ast.literal_eval(n) for n in re.findall(r"\d+", text)]


def launch(options):
    """Block and grid of the options in a test's first lines."""
    get = lambda *names: next(
        (sizes(m[1]) for n in names if (m := re.search(rf"--{n}=(\[[^]]*\]|\S+)", options))), None
    )
    block, grid = get("blockDim", "local_size"), get("gridDim", "num_groups")
    total = get("global_size")
    if block and not grid and total:
        grid = [max(1, t // b) for t, b in zip(total, block)]
    return block, grid


def gpuverify(suite, root, ends):
    """Tests of GPUVerify: what is expected in the first line, options in the second."""
    for source in sources(root, ends):
        text = open(source, errors="replace").read()
        lines = [line.strip() for line in text.splitlines()[:2]] + ["", ""]
        expected = lines[0].removeprefix("//").strip().lower()
        name = os.path.relpath(source, root)
        name = os.path.dirname(name) if os.path.basename(name).startswith("kernel.") else name
        block, grid = launch(lines[1])
        flags = re.findall(r"-[DI]\S+", lines[1])
        if "gvtester" in lines[1]:
            flags = []
        truth = TRUTH.get(suite, {}).get(name) or labelled(expected, text)
        if "--warp-sync" in lines[1] and truth == "none":
            truth = "free of races only where a warp runs in lockstep"
        language = "cuda" if source.endswith(".cu") else "opencl"
        if block and math.prod(block) > THREADS:
            block = fitting(block)
        if not block or not grid:
            truth, block, grid = "no launch is given", [1], [1]
        yield Program(suite, name, source, language, block, grid, truth, flags)
        faults = suite + ", faults injected"
        for kind in injected(text):
            kind = TRUTH.get(faults, {}).get(name, kind)
            yield Program(
                faults, name, source, language, block, grid, kind,
                flags + ["-DMUTATION"],
            )


def labelled(expected, text):
    """What a test is true of, by its first line and the comments below it."""
    if expected == "pass":
        return "none"
    if "not_all_verified" not in expected:
        return f"expected to be refused ({expected.removeprefix('xfail:')})"
    head = "\n".join(l for l in text.splitlines()[1:12] if l.strip().startswith("//"))
    told = [why for words, why in REASONS.items() if re.search(words, head)]
    return told[0] if told else "fails, and nothing says for what"


def fitting(block):
    """A block that CUDA has, for one of more threads: its longest side halved."""
    block = list(block)
    while math.prod(block) > THREADS:
        longest = block.index(max(block))
        block[longest] = -(-block[longest] // 2)
    return block


def injected(text):
    """What the macro MUTATION does to a benchmark that has it."""
    kinds = re.findall(r"BUGINJECT: (\w+)", text)
    if not kinds:
        return []
    if all(k in ("REMOVE_BARRIER", "ADD_ACCESS", "MUTATE_OFFSET") for k in kinds):
        return ["race"]
    return ["barrier divergence is injected"]


BARRACUDA = {  # what the host code of a test launches
    "atomic_increment.cu": None,
    "base.cu": None,
    "base_with_syncthreads.cu": None,
    "branch_race.cu": None,
    "implicit_intra_warp_sync.cu": None,
    "warp_lock.cu": None,
    "flag_sync_across_blocks.cu": (2, 1),
    "single_stream.cu": (1, 1),
}


def barracuda(root):
    """The list of tests is a Python program; it is read with stand-ins for its classes."""
    stand = types.ModuleType("cudaTestProgram")

    class Names(type):
        def __getattr__(cls, name):
            return name

    class CudaError(metaclass=Names):
        pass

    stand.CudaError = stand.CudaWarning = stand.CudaTestResult = stand.CudaTestMode = CudaError
    stand.CudaTestCase = lambda expected, *rest, **more: expected
    stand.CudaRaceTestProgram = lambda path, macros=None, testCases=(), **more: (
        path, macros or {}, testCases)
    stand.CudaTestProgram = stand.CudaRaceTestProgram
    sys.modules["cudaTestProgram"] = stand
    scope = {}
    exec(compile(open(os.path.join(root, "racey.py")).read(), "racey.py", "exec"), scope)
    for path, macros, cases in scope["raceyTests"]:
        source = os.path.join(root, path)
        file = os.path.basename(path)
        name = " ".join([file] + [k if v is None else f"{k}={v}" for k, v in macros.items()])
        flags = [f"-D{k}" if v is None else f"-D{k}={v}" for k, v in macros.items()]
        truth = "none" if "NO_RACE" in str(cases) else "race"
        truth = TRUTH.get("Barracuda", {}).get(name, truth)
        grid, block = int(macros.get("BLOCKS", 1)), int(macros.get("THREADS", 1))
        if file == "implicit_intra_warp_sync.cu":
            truth = "free of races only where a warp runs in lockstep"
        elif file not in BARRACUDA:
            truth = "kernels started by a kernel" if "parallelism" in file else "streams of the host"
        elif BARRACUDA[file]:
            grid, block = BARRACUDA[file]
        yield Program("Barracuda", name, source, "cuda", [block], [grid], truth, flags)


def hecbench(root):
    """Programs of a HeCBench repository, each as it was before its race was fixed."""
    table = tomllib.load(open(os.path.join(HERE, "hecbench.toml"), "rb"))
    for program in table["program"]:
        folder = os.path.join(root, program["commit"])
        source = os.path.join(folder, program["source"])
        truth = TRUTH.get("HeCBench's issues", {}).get(program["name"], "race")
        if not os.path.exists(source):
            truth = f"{source} is missing: see the README"
        more = {k: program[k] for k in ("dynamic_shared", "random", "symbols") if k in program}
        yield Program(
            "HeCBench's issues", program["name"], source, "cuda", program["block"],
            program["grid"], truth, program.get("flags", []), program["entry"],
            program["values"], more)


def all_programs(gpuverify_root, benchmarks, barracuda_root, hecbench_root=None,
                 scor_root=None, indigo_root=None,
                 indigo3_root=None, esbmc_root=None, faial_root=None, sanitizer_root=None,
                 fixed_root=None, work=None):
    if benchmarks:
        yield from gpuverify("GPUVerifyBenchmarks, CUDA", benchmarks, ".cu")
        yield from gpuverify("GPUVerifyBenchmarks, OpenCL", benchmarks, ".cl")
    if gpuverify_root:
        tests = os.path.join(gpuverify_root, "testsuite")
        yield from gpuverify("GPUVerify's tests, CUDA", os.path.join(tests, "CUDA"), ".cu")
        yield from gpuverify("GPUVerify's tests, OpenCL", os.path.join(tests, "OpenCL"), ".cl")
    if barracuda_root:
        yield from barracuda(barracuda_root)
    if hecbench_root:
        yield from hecbench(hecbench_root)
    if scor_root:
        yield from scor.microbenchmarks(scor_root, work, Program, TRUTH)
        yield from scor.applications(scor_root, Program, TRUTH)
    if indigo_root:
        yield from indigo.programs(indigo_root, work, Program, TRUTH)
    if indigo3_root:
        yield from indigo3.programs(indigo3_root, work, Program, TRUTH)
    if esbmc_root:
        yield from esbmc.programs(esbmc_root, Program, TRUTH)
    if faial_root:
        yield from faial.programs(faial_root, work, Program, TRUTH, launch)
    if sanitizer_root:
        yield from sanitizer.programs(sanitizer_root, Program)
    if fixed_root:
        yield from fixed.programs(fixed_root, work, Program, TRUTH)
